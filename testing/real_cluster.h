#pragma once

#include <gtest/gtest.h>

#include <string>

#include "minisched/client/client.h"
#include "minisched/client/rest_config.h"
#include "minisched/client/transport.h"
#include "testing/pem.h"

namespace minisched {

// A fixture for tests on a real API server. $MINISCHED_REAL_CLUSTER is the
// cluster's directory, which scripts/cluster creates. The test fails if the
// variable is not set.
class RealClusterTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Returns the administrator's configuration, without a rate limit.
  const RestConfig& admin() const { return admin_; }
  // Returns a configuration without credentials for the same server.
  RestConfig Nobody() const;

  // Returns the test's own namespace. The first call creates it; TearDown()
  // deletes it.
  const std::string& namespace_name();

  // Issues a client certificate from the authority that the server trusts.
  TestCertificate IssueClientCertificate(const TestSubject& subject) const;

  // Creates a service account in the test's namespace and returns a token for
  // it. Its user is "system:serviceaccount:NAMESPACE:NAME".
  std::string ServiceAccountToken(const std::string& name);

  // Asks the server for the user name of the configuration's credentials
  // (SelfSubjectReview).
  static std::string WhoAmI(const RestConfig& config);

  // Sends a request as the administrator, for types that Client lacks. Returns
  // the body of the response. Throws unless the status is 2xx.
  std::string Call(const std::string& method, const std::string& path,
                   const std::string& body) const;

 private:
  std::string directory_;
  RestConfig admin_;
  std::string namespace_name_;
};

}  // namespace minisched
