#include "testing/real_cluster.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "minisched/client/kubeconfig.h"

namespace minisched {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Sends a request and returns the body. Throws unless the status is 2xx.
std::string Send(const RestConfig& config, const std::string& method,
                 const std::string& path, const std::string& body) {
  HttpRequest request{.method = method, .path = path, .body = body};
  request.headers["Content-Type"] = "application/json";
  if (!config.bearer_token.empty()) {
    request.headers["Authorization"] = "Bearer " + config.bearer_token;
  }
  HttpResponse response = Transport(config).Send(request, {});
  if (response.status < 200 || response.status >= 300) {
    throw std::runtime_error(method + " " + path + ": " + response.body);
  }
  return std::move(response.body);
}

}  // namespace

void RealClusterTest::SetUp() {
  const char* directory = std::getenv("MINISCHED_REAL_CLUSTER");
  if (directory == nullptr || *directory == '\0') {
    FAIL() << "MINISCHED_REAL_CLUSTER is not set: run this test with "
              "scripts/test --real";
  }
  directory_ = directory;
  admin_ = LoadRestConfig({.kubeconfig = directory_ + "/kubeconfig"});
  admin_.qps = 0;
}

void RealClusterTest::TearDown() {
  if (namespace_name_.empty()) return;
  Call("DELETE", "/api/v1/namespaces/" + namespace_name_, "{}");
}

RestConfig RealClusterTest::Nobody() const {
  RestConfig config = admin_;
  config.client_certificate_data.clear();
  config.client_key_data.clear();
  return config;
}

const std::string& RealClusterTest::namespace_name() {
  if (namespace_name_.empty()) {
    const auto created = nlohmann::json::parse(
        Call("POST", "/api/v1/namespaces",
             R"({"metadata": {"generateName": "minisched-test-"}})"));
    namespace_name_ = created["metadata"]["name"];
  }
  return namespace_name_;
}

TestCertificate RealClusterTest::IssueClientCertificate(
    const TestSubject& subject) const {
  return Issue({.certificate = ReadFile(directory_ + "/pki/ca.crt"),
                .key = ReadFile(directory_ + "/pki/ca.key")},
               subject);
}

std::string RealClusterTest::ServiceAccountToken(const std::string& name) {
  const std::string accounts =
      "/api/v1/namespaces/" + namespace_name() + "/serviceaccounts";
  Call("POST", accounts, R"({"metadata": {"name": ")" + name + R"("}})");
  const auto answer =
      nlohmann::json::parse(Call("POST", accounts + "/" + name + "/token",
                                 R"({"apiVersion": "authentication.k8s.io/v1",
               "kind": "TokenRequest", "spec": {"expirationSeconds": 600}})"));
  return answer["status"]["token"];
}

std::string RealClusterTest::WhoAmI(const RestConfig& config) {
  const auto answer = nlohmann::json::parse(
      Send(config, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
           R"({"apiVersion": "authentication.k8s.io/v1",
               "kind": "SelfSubjectReview"})"));
  return answer["status"]["userInfo"]["username"];
}

std::string RealClusterTest::Call(const std::string& method,
                                  const std::string& path,
                                  const std::string& body) const {
  return Send(admin_, method, path, body);
}

}  // namespace minisched
