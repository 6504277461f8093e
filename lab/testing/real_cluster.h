#pragma once

#include <gtest/gtest.h>

#include <string>

#include "lab/testing/pem.h"
#include "minisched/client/client.h"
#include "minisched/client/rest_config.h"
#include "minisched/client/transport.h"

namespace minisched {

// A test on a real API server: the cluster whose directory, as scripts/cluster
// makes it, $MINISCHED_REAL_CLUSTER names. Without one the test fails.
class RealClusterTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // How the administrator reaches the server; without a rate limit.
  const RestConfig& admin() const { return admin_; }
  // The same server, and nobody in particular.
  RestConfig Nobody() const;

  // A namespace of the test's own, made when first asked for and deleted, with
  // all that is in it, after the test.
  const std::string& namespace_name();

  // Signed by the authority that the server asks for in its clients.
  TestCertificate IssueClientCertificate(const TestSubject& subject) const;

  // Makes the service account in the test's namespace, and a token for it.
  // To the server its user is "system:serviceaccount:NAMESPACE:NAME".
  std::string ServiceAccountToken(const std::string& name);

  // Whom the server takes this configuration's user for: SelfSubjectReview.
  static std::string WhoAmI(const RestConfig& config);

  // What Client has no type for, as the administrator: returns the body of the
  // answer, which must be a success.
  std::string Call(const std::string& method, const std::string& path,
                   const std::string& body) const;

 private:
  std::string directory_;
  RestConfig admin_;
  std::string namespace_name_;
};

}  // namespace minisched
