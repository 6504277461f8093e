// Tests credentials that a program prints, with a real API server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "minisched/client/client.h"
#include "minisched/client/rest_config.h"
#include "testing/pem.h"
#include "testing/real_cluster.h"

namespace minisched {
namespace {

using testing::HasSubstr;

class ExecRealTest : public RealClusterTest {
 protected:
  // The configuration of a program that prints a status with these fields, in
  // the quotes of the shell.
  RestConfig Printing(const std::string& status,
                      const std::string& before = "") const {
    RestConfig config = Nobody();
    config.exec = ExecConfig{
        .api_version = "client.authentication.k8s.io/v1",
        .command = {"sh", "-c",
                    before +
                        R"(printf %s '{"kind": "ExecCredential", )"
                        R"("apiVersion": "client.authentication.k8s.io/v1", )"
                        R"("status": {)" +
                        status + "}}'"},
        .source = "test"};
    return config;
  }

  // Returns what the server knows about the user of the configuration.
  static std::string AskWhoIAm(const RestConfig& config) {
    Client client(config);
    return client.Send(
        {.method = "POST",
         .path = "/apis/authentication.k8s.io/v1/selfsubjectreviews",
         .body = R"({"apiVersion": "authentication.k8s.io/v1",
                     "kind": "SelfSubjectReview"})"});
  }

  static auto IsUser(const std::string& name) {
    return HasSubstr(R"("username":")" + name + R"(")");
  }
  auto IsAccount(const std::string& name) {
    return IsUser("system:serviceaccount:" + namespace_name() + ":" + name);
  }
};

TEST_F(ExecRealTest, AcceptsAToken) {
  const std::string token = ServiceAccountToken("robot");
  EXPECT_THAT(AskWhoIAm(Printing(R"("token": ")" + token + R"(")")),
              IsAccount("robot"));
}

TEST_F(ExecRealTest, AcceptsACertificate) {
  const TestCertificate pair =
      IssueClientCertificate({.common_name = "jane", .organizations = {"g"}});
  const auto escape = [](const std::string& pem) {
    std::string escaped;
    for (const char c : pem) escaped += c == '\n' ? "\\n" : std::string(1, c);
    return escaped;
  };
  EXPECT_THAT(AskWhoIAm(Printing(
                  R"("clientCertificateData": ")" + escape(pair.certificate) +
                  R"(", "clientKeyData": ")" + escape(pair.key) + R"(")")),
              IsUser("jane"));
}

TEST_F(ExecRealTest, ReplacesATokenThatTheServerRefuses) {
  const std::string token = ServiceAccountToken("robot");
  const std::string ran =
      testing::TempDir() + "exec_real_test." + namespace_name();
  // The first run prints a token that nobody has.
  RestConfig config =
      Printing(R"("token": "'$token'")", "token=" + token + "\n" + "test -e " +
                                             ran + " || token=nobodys\n" +
                                             "touch " + ran + "\n");
  EXPECT_THAT(AskWhoIAm(config), IsAccount("robot"));
  EXPECT_TRUE(std::filesystem::remove(ran));
}

}  // namespace
}  // namespace minisched
