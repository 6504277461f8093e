#include "minisched/client/kubeconfig_context.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "minisched/client/kubeconfig_testing.h"
#include "testing/pem.h"

namespace minisched {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using std::chrono::system_clock;

using KubeconfigContextTest = KubeconfigTest;

TEST_F(KubeconfigContextTest, LoadsAKubeconfigOfKind) {
  const TestCertificate client = Issue(ca_, {.common_name = "admin"});
  Write(".kube/config",
        "apiVersion: v1\n"
        "clusters:\n"
        "- cluster:\n"
        "    certificate-authority-data: " +
            EncodeBase64(ca_.certificate) +
            "\n"
            "    server: https://127.0.0.1:43211\n"
            "  name: kind-minisched\n"
            "contexts:\n"
            "- context:\n"
            "    cluster: kind-minisched\n"
            "    user: kind-minisched\n"
            "  name: kind-minisched\n"
            "current-context: kind-minisched\n"
            "kind: Config\n"
            "preferences: {}\n"
            "users:\n"
            "- name: kind-minisched\n"
            "  user:\n"
            "    client-certificate-data: " +
            EncodeBase64(client.certificate) +
            "\n"
            "    client-key-data: " +
            EncodeBase64(client.key) + "\n");
  const RestConfig config = Load();
  EXPECT_EQ(config.server, "https://127.0.0.1:43211");
  EXPECT_EQ(config.ca_data, ca_.certificate);
  EXPECT_EQ(config.client_certificate_data, client.certificate);
  EXPECT_EQ(config.client_key_data, client.key);
  EXPECT_EQ(config.bearer_token, "");
  EXPECT_EQ(config.bearer_token_file, "");
  EXPECT_FALSE(config.insecure_skip_tls_verify);
  EXPECT_EQ(config.source,
            "context \"kind-minisched\" of " + Path(".kube/config"));
}

TEST_F(KubeconfigContextTest, ResolvesFilesRelativeToTheirKubeconfig) {
  const TestCertificate client = Issue(ca_, {.common_name = "u"});
  Write("pki/ca.crt", ca_.certificate);
  Write("a/u.crt", client.certificate);
  Write("a/u.key", client.key);
  Write("a/token", " secret \n");
  // The cluster is in one file, the user in another.
  environment_.kubeconfig =
      Write("a/users",
            "current-context: c\n"
            "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
            "users: [{name: u, user: {client-certificate: u.crt, "
            "client-key: " +
                Path("a/u.key") + ", tokenFile: ./token}}]\n") +
      ":" +
      Write("b/clusters",
            "clusters: [{name: k, cluster: {server: \"https://h\", "
            "certificate-authority: ../pki/ca.crt, tls-server-name: n}}]\n");
  const RestConfig config = Load();
  EXPECT_EQ(config.ca_data, ca_.certificate);
  EXPECT_EQ(config.tls_server_name, "n");
  EXPECT_EQ(config.client_certificate_data, client.certificate);
  EXPECT_EQ(config.client_key_data, client.key);
  EXPECT_EQ(config.bearer_token, "secret");
  EXPECT_EQ(config.bearer_token_file, Path("a/token"));
}

TEST_F(KubeconfigContextTest, LoadsARelativeKubeconfig) {
  Write("token", "secret");
  Write("config", OneContext(kServer, "tokenFile: token"));
  const fs::path before = fs::current_path();
  fs::current_path(dir_);
  const RestConfig config = Load({.kubeconfig = "config"});
  fs::current_path(before);
  EXPECT_EQ(config.bearer_token_file, Path("token"));
  EXPECT_EQ(config.source, "context \"c\" of config");
}

TEST_F(KubeconfigContextTest, AcceptsServerUrls) {
  struct Case {
    std::string server;
    std::string url;
  };
  const std::vector<Case> cases = {
      {"https://h", "https://h"},
      {"https://h:6443/", "https://h:6443"},
      {"https://h/k8s/clusters/c-1/", "https://h/k8s/clusters/c-1"},
      {"https://h/a?b=c#d", "https://h/a"},
      {"https://[::1]:6443", "https://[::1]:6443"},
      {"https://[fd00::1]/", "https://[fd00::1]"},
      {"http://127.0.0.1:8080", "http://127.0.0.1:8080"},
  };
  for (const Case& c : cases) {
    const std::string file =
        Write("config", OneContext("server: \"" + c.server + "\"", ""));
    EXPECT_EQ(Load({.kubeconfig = file}).server, c.url) << c.server;
  }
}

TEST_F(KubeconfigContextTest, RejectsOtherServerUrls) {
  const std::vector<std::string> cases = {
      "localhost:8080",   "h",           "https://",          "https:///path",
      "ftp://h",          "https:h",     "https://:6443",     "https://h:",
      "https://h:64430x", "https://a b", "https://[::1",      "https://::1",
      "https://h:123456", "://h",        "unix:///run/k.sock"};
  for (const std::string& server : cases) {
    std::string shown = server;
    while (shown.ends_with('/')) shown.pop_back();
    EXPECT_EQ(ErrorOf(OneContext("server: \"" + server + "\"", "")),
              "DIR/config: cluster \"k\": server \"" + shown +
                  "\" is not an http:// or https:// URL");
  }
  EXPECT_EQ(ErrorOf(OneContext("server: \"https://u:secret@h\"", "")),
            "DIR/config: cluster \"k\": a server with a user name is not "
            "supported");
}

TEST_F(KubeconfigContextTest, LoadsNoCredentialsWithoutTls) {
  const std::string file =
      Write("config", OneContext("server: \"http://h\", tls-server-name: n, "
                                 "certificate-authority: missing",
                                 "token: secret, client-key: missing"));
  const RestConfig config = Load({.kubeconfig = file});
  EXPECT_EQ(config.server, "http://h");
  EXPECT_EQ(config.bearer_token, "");
  EXPECT_EQ(config.tls_server_name, "");
}

TEST_F(KubeconfigContextTest, SkipsVerificationWithInsecureSkipTlsVerify) {
  const std::string file =
      Write("config",
            OneContext(
                "insecure-skip-tls-verify: true, " + std::string(kServer), ""));
  EXPECT_TRUE(Load({.kubeconfig = file}).insecure_skip_tls_verify);
}

TEST_F(KubeconfigContextTest, LoadsATokenBesideAMissingTokenFile) {
  const std::string file = Write(
      "config", OneContext(kServer, "token: now, tokenFile: comes/later"));
  const RestConfig config = Load({.kubeconfig = file});
  EXPECT_EQ(config.bearer_token, "now");
  EXPECT_EQ(config.bearer_token_file, Path("comes/later"));
}

TEST_F(KubeconfigContextTest, ReportsAnIncompleteContext) {
  struct Case {
    std::string context;
    std::string error;
  };
  const std::vector<Case> cases = {
      {"{}", "DIR/config: context \"c\" names no cluster"},
      {"{cluster: x}",
       "DIR/config: context \"c\": no cluster \"x\" in DIR/config"},
      {"{cluster: k, user: x}",
       "DIR/config: context \"c\": no user \"x\" in DIR/config"},
      {"{cluster: empty}", "DIR/config: cluster \"empty\" has no server"},
      {"{cluster: k}", ""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ErrorOf("current-context: c\ncontexts: [{name: c, context: " +
                      c.context +
                      "}]\nclusters: [{name: empty}, {name: k, cluster: "
                      "{server: \"https://h\"}}]\n"),
              c.error);
  }
}

TEST_F(KubeconfigContextTest, RejectsUnsupportedFieldsByName) {
  const std::string user_error =
      " is not supported; use a client certificate, a token or exec";
  struct Case {
    std::string field;
    std::string value;
  };
  const std::vector<Case> cases = {
      {"auth-provider", "{name: oidc}"},
      {"username", "secret"},
      {"password", "secret"},
      {"as", "secret"},
      {"as-uid", "secret"},
      {"as-groups", "[secret]"},
      {"as-user-extra", "{a: [secret]}"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ErrorOf(OneContext(kServer, c.field + ": " + c.value)),
              "DIR/config: user \"u\": " + c.field + user_error);
  }
  EXPECT_EQ(ErrorOf(OneContext(
                "proxy-url: \"http://secret\", " + std::string(kServer), "")),
            "DIR/config: cluster \"k\": proxy-url is not supported");
}

TEST_F(KubeconfigContextTest, ReportsTheProblemOfACluster) {
  fs::create_directory(Path("dir"));
  Write("empty", "");
  const std::string data =
      "certificate-authority-data: " + EncodeBase64(ca_.certificate);
  struct Case {
    std::string cluster;
    std::string error;
  };
  const std::vector<Case> cases = {
      {"certificate-authority: missing",
       ": certificate-authority DIR/missing: No such file or directory"},
      {"certificate-authority: dir",
       ": certificate-authority DIR/dir: Is a directory"},
      {"certificate-authority: empty",
       ": certificate-authority DIR/empty: no PEM certificate found"},
      {"certificate-authority-data: \"secret!\"",
       ": certificate-authority-data is not base64"},
      {"certificate-authority-data: c2VjcmV0",
       ": certificate-authority-data: no PEM certificate found"},
      {"certificate-authority: missing, " + data,
       " has both certificate-authority and certificate-authority-data"},
      {"insecure-skip-tls-verify: true, " + data,
       " has both insecure-skip-tls-verify and a certificate-authority"},
      {data, ""},
  };
  for (const Case& c : cases) {
    const std::string error =
        ErrorOf(OneContext(kServer + (", " + c.cluster), ""));
    EXPECT_EQ(error,
              c.error.empty() ? "" : "DIR/config: cluster \"k\"" + c.error);
  }
}

TEST_F(KubeconfigContextTest, ReportsTheProblemOfAUser) {
  const TestCertificate client = Issue(ca_, {.common_name = "u"});
  const TestCertificate expired =
      Issue(ca_, {.common_name = "u",
                  .not_before = system_clock::time_point{},
                  .not_after = system_clock::time_point{seconds(86399)}});
  Write("u.crt", client.certificate);
  Write("old.crt", expired.certificate);
  Write("old.key", expired.key);
  Write("locked.key", EncryptKey(client.key, "secret"));
  Write("empty", " \n");
  Write("two-lines", "secret\nsecret");
  const std::string certificate =
      "client-certificate-data: " + EncodeBase64(client.certificate);
  const std::string key = "client-key-data: " + EncodeBase64(client.key);
  struct Case {
    std::string user;
    std::string error;
  };
  const std::vector<Case> cases = {
      {certificate, " has a client-certificate but no client-key"},
      {key, " has a client-key but no client-certificate"},
      {"client-key: missing, " + certificate,
       ": client-key DIR/missing: No such file or directory"},
      {"client-certificate: missing, " + key,
       ": client-certificate DIR/missing: No such file or directory"},
      {"client-certificate: u.crt, " + certificate + ", " + key,
       " has both client-certificate and client-certificate-data"},
      {"client-key: u.key, " + certificate + ", " + key,
       " has both client-key and client-key-data"},
      {"client-key-data: \"secret!\", " + certificate,
       ": client-key-data is not base64"},
      {"client-key: locked.key, " + certificate,
       ": client-key DIR/locked.key: the key is encrypted, which is not "
       "supported"},
      {"client-key: old.key, client-certificate: u.crt",
       ": client-key DIR/old.key: the key does not belong to the client "
       "certificate"},
      {"client-key: old.key, client-certificate: old.crt",
       ": client-certificate DIR/old.crt: the certificate expired at "
       "1970-01-01T23:59:59Z"},
      {"tokenFile: missing",
       ": tokenFile DIR/missing: No such file or directory"},
      {"tokenFile: empty", ": tokenFile DIR/empty is empty"},
      {"tokenFile: two-lines",
       ": tokenFile DIR/two-lines is not a token: it has spaces or bytes that "
       "are not printable ASCII"},
      {"token: \"sec\\r\\nret\"",
       ": token is not a token: it has spaces or bytes that are not printable "
       "ASCII"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ErrorOf(OneContext(kServer, c.user)),
              "DIR/config: user \"u\"" + c.error);
  }
}

}  // namespace
}  // namespace minisched
