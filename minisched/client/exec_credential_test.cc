#include "minisched/client/exec_credential.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "minisched/api/parse_error.h"
#include "minisched/api/time.h"

namespace minisched {
namespace {

constexpr char kVersion[] = "client.authentication.k8s.io/v1";

// Returns the object that a program prints, with a status.
std::string Printed(const std::string& status) {
  return std::string(R"({"kind": "ExecCredential", "apiVersion": ")") +
         kVersion + R"(", "status": )" + status + "}";
}

ExecCredential Parse(const std::string& status) {
  return ParseExecCredential(Printed(status), kVersion);
}

// Fails the test if the error contains "secret".
std::string ErrorOfText(const std::string& text) {
  try {
    ParseExecCredential(text, kVersion);
  } catch (const ParseError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find("secret"), std::string::npos) << message;
    return message;
  }
  return "no error";
}

std::string ErrorOfStatus(const std::string& status) {
  return ErrorOfText(Printed(status));
}

TEST(ExecCredentialTest, ParsesAToken) {
  const ExecCredential credential = Parse(R"({"token": "t"})");
  EXPECT_EQ(credential.token, "t");
  EXPECT_EQ(credential.client_certificate_data, "");
  EXPECT_EQ(credential.client_key_data, "");
  EXPECT_EQ(credential.expiration, std::nullopt);
}

TEST(ExecCredentialTest, ParsesACertificateBesideAToken) {
  const ExecCredential credential =
      Parse(R"({"token": "t", "clientCertificateData": "c\nc", )"
            R"("clientKeyData": "k"})");
  EXPECT_EQ(credential.token, "t");
  EXPECT_EQ(credential.client_certificate_data, "c\nc");
  EXPECT_EQ(credential.client_key_data, "k");
}

TEST(ExecCredentialTest, ParsesTheExpiration) {
  EXPECT_EQ(Parse(R"({"token": "t", "expirationTimestamp": )"
                  R"("2026-11-21T10:00:00+01:00"})")
                .expiration,
            ParseTime("2026-11-21T09:00:00Z"));
  EXPECT_EQ(Parse(R"({"token": "t", "expirationTimestamp": null})").expiration,
            std::nullopt);
}

TEST(ExecCredentialTest, IgnoresUnknownFields) {
  EXPECT_EQ(ParseExecCredential(
                R"({"kind": "ExecCredential", "spec": {}, "new": 1, )"
                R"("apiVersion": "client.authentication.k8s.io/v1beta1", )"
                R"("status": {"token": "t", "new": 1}})",
                "client.authentication.k8s.io/v1beta1")
                .token,
            "t");
}

TEST(ExecCredentialTest, RejectsOtherOutput) {
  EXPECT_EQ(ErrorOfText(""), "the output is empty");
  EXPECT_EQ(ErrorOfText("\n "), "the output is empty");
  for (const std::string text :
       {"secret", "[]", "\"secret\"", "{\"secret\":", "{} secret"}) {
    EXPECT_EQ(ErrorOfText(text), "the output is no JSON object") << text;
  }
  EXPECT_EQ(ErrorOfText("{}"), "kind is \"\", not \"ExecCredential\"");
  EXPECT_EQ(ErrorOfText(R"({"kind": "Status"})"),
            "kind is \"Status\", not \"ExecCredential\"");
  EXPECT_EQ(ErrorOfText(R"({"kind": ["secret"]})"), "kind is no string");
  EXPECT_EQ(
      ErrorOfText(R"({"kind": "ExecCredential", "apiVersion": )"
                  R"("client.authentication.k8s.io/v1beta1", "status": {}})"),
      "apiVersion is \"client.authentication.k8s.io/v1beta1\", but the "
      "kubeconfig has \"client.authentication.k8s.io/v1\"");
}

TEST(ExecCredentialTest, RejectsAnIncompleteStatus) {
  const std::string certificate = R"("clientCertificateData": "secret")";
  const std::string key = R"("clientKeyData": "secret")";
  const std::string nothing =
      "status has neither a token nor a client certificate";
  struct Case {
    std::string status;
    std::string error;
  };
  const std::vector<Case> cases = {
      {"null", "there is no status"},
      {"\"secret\"", "there is no status"},
      {"{}", nothing},
      {R"({"token": ""})", nothing},
      {R"({"token": null})", nothing},
      {R"({"token": ["secret"]})", "status.token is no string"},
      {"{" + certificate + "}",
       "status has a clientCertificateData but no clientKeyData"},
      {R"({"token": "secret", )" + key + "}",
       "status has a clientKeyData but no clientCertificateData"},
      {R"({"token": "secret\nsecret"})",
       "status.token is not a token: it has spaces or bytes that are not "
       "printable ASCII"},
      {R"({"token": "t", "expirationTimestamp": "secret"})",
       "status.expirationTimestamp is not RFC 3339, such as "
       "\"2026-11-21T10:00:00Z\""},
      {R"({"token": "t", "expirationTimestamp": 1})",
       "status.expirationTimestamp is no string"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ErrorOfStatus(c.status), c.error) << c.status;
  }
}

TEST(ExecCredentialTest, TheInfoHasNoClusterByDefault) {
  const RestConfig config{.server = "https://h",
                          .exec = ExecConfig{.api_version = kVersion}};
  EXPECT_EQ(ExecInfo(config),
            R"({"apiVersion":"client.authentication.k8s.io/v1",)"
            R"("kind":"ExecCredential","spec":{"interactive":false}})");
}

TEST(ExecCredentialTest, TheInfoDescribesTheCluster) {
  RestConfig config{.server = "https://h",
                    .exec = ExecConfig{.api_version = kVersion,
                                       .provide_cluster_info = true}};
  const std::string start =
      R"({"apiVersion":"client.authentication.k8s.io/v1",)"
      R"("kind":"ExecCredential","spec":{"cluster":{)";
  EXPECT_EQ(ExecInfo(config), start + R"("config":null,"server":"https://h"},)"
                                      R"("interactive":false}})");

  config.ca_data = "authority";
  config.tls_server_name = "n";
  config.insecure_skip_tls_verify = true;
  config.exec->cluster_config = R"({"audience":"a","n":[1,true]})";
  EXPECT_EQ(ExecInfo(config),
            start + R"("certificate-authority-data":"YXV0aG9yaXR5",)"
                    R"("config":{"audience":"a","n":[1,true]},)"
                    R"("insecure-skip-tls-verify":true,"server":"https://h",)"
                    R"("tls-server-name":"n"},"interactive":false}})");
}

}  // namespace
}  // namespace minisched
