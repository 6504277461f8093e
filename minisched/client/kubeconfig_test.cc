#include "minisched/client/kubeconfig.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "minisched/client/kubeconfig_testing.h"

namespace minisched {
namespace {

namespace fs = std::filesystem;

TEST_F(KubeconfigTest, PrefersFlagThenEnvironmentThenHomeThenPod) {
  const auto file = [](const std::string& name) {
    return "current-context: c\n"
           "contexts: [{name: c, context: {cluster: k}}]\n"
           "clusters: [{name: k, cluster: {server: \"https://" +
           name + "\"}}]\n";
  };
  EnterPod();
  EXPECT_EQ(Load().server, "https://10.96.0.1:443");
  Write(".kube/config", file("home"));
  EXPECT_EQ(Load().server, "https://home");
  environment_.kubeconfig = Write("env", file("env"));
  EXPECT_EQ(Load().server, "https://env");
  EXPECT_EQ(Load({.kubeconfig = Write("flag", file("flag"))}).server,
            "https://flag");
  // With $KUBECONFIG set, ~/.kube/config isn't read, even if no file exists.
  environment_.kubeconfig = Path("missing");
  EXPECT_EQ(Load().server, "https://10.96.0.1:443");
}

TEST_F(KubeconfigTest, MergesFilesAndTheFirstDefinitionWins) {
  const std::string first =
      Write("first",
            "contexts: [{name: a, context: {cluster: one}}]\n"
            "clusters: [{name: one, cluster: {server: \"https://first\"}}]\n");
  const std::string second =
      Write("second",
            "current-context: a\n"
            "contexts: [{name: a, context: {cluster: two, user: u}},"
            " {name: b, context: {cluster: one}}]\n"
            "clusters: [{name: one, cluster: {server: \"https://second\","
            " insecure-skip-tls-verify: true}},"
            " {name: two, cluster: {server: \"https://two\"}}]\n");
  const std::string third = Write("third", "current-context: b\n");
  environment_.kubeconfig = ":" + Path("missing") + ":" + first +
                            "::" + second + ":" + third + ":" + first;
  const RestConfig a = Load();
  EXPECT_EQ(a.server, "https://first");
  EXPECT_EQ(a.source, "context \"a\" of " + first);
  const RestConfig b = Load({.context = "b"});
  EXPECT_EQ(b.server, "https://first");
  // A cluster is not merged from two files.
  EXPECT_FALSE(b.insecure_skip_tls_verify);
  EXPECT_EQ(b.source, "context \"b\" of " + second);

  environment_.kubeconfig = second + ":" + first;
  EXPECT_TRUE(Load({.context = "b"}).insecure_skip_tls_verify);
}

TEST_F(KubeconfigTest, ChecksOnlyTheSelectedContext) {
  const std::string file =
      Write("config",
            "current-context: good\n"
            "contexts:\n"
            "- {name: good, context: {cluster: good, user: good}}\n"
            "- {name: bad, context: {cluster: bad, user: bad}}\n"
            "clusters:\n"
            "- {name: good, cluster: {server: \"https://h\"}}\n"
            "- {name: bad, cluster: {certificate-authority: missing}}\n"
            "users:\n"
            "- {name: good, user: {token: t}}\n"
            "- {name: bad, user: {auth-provider: {name: x}, client-key-data: "
            "\"!\"}}\n");
  EXPECT_EQ(Load({.kubeconfig = file}).bearer_token, "t");
  EXPECT_EQ(Error({.kubeconfig = file, .context = "bad"}),
            "DIR/config: user \"bad\": auth-provider is not supported; use "
            "a client certificate, a token or exec");
}

TEST_F(KubeconfigTest, ReportsWhereItLookedForACluster) {
  const std::string end = "; give --kubeconfig, or let scripts/run start one";
  const std::string no_pod =
      ", not in a pod ($KUBERNETES_SERVICE_HOST is not set)";
  EXPECT_EQ(Error(),
            "no cluster to connect to: $KUBECONFIG is not set, "
            "DIR/.kube/config does not exist" +
                no_pod + end);
  Write(".kube/config", "current-context: \"\"\ncontexts: null\n");
  EXPECT_EQ(Error(),
            "no cluster to connect to: $KUBECONFIG is not set, "
            "DIR/.kube/config has no contexts" +
                no_pod + end);
  environment_.home = "";
  EXPECT_EQ(Error(),
            "no cluster to connect to: $KUBECONFIG is not set, $HOME is not "
            "set" +
                no_pod + end);
  environment_.kubeconfig = ":";
  EXPECT_EQ(Error(), "no cluster to connect to: $KUBECONFIG names no file" +
                         no_pod + end);
  environment_.kubeconfig = Path("a") + ":" + Write("b", "");
  EXPECT_EQ(Error(),
            "no cluster to connect to: DIR/a does not exist, DIR/b has no "
            "contexts" +
                no_pod + end);
  environment_.service_host = "10.96.0.1";
  EXPECT_EQ(Error(),
            "no cluster to connect to: DIR/a does not exist, DIR/b has no "
            "contexts, not in a pod ($KUBERNETES_SERVICE_PORT is not set)" +
                end);
  environment_.service_port = "443";
  EXPECT_EQ(Error(),
            "no cluster to connect to: DIR/a does not exist, DIR/b has no "
            "contexts, not in a pod (DIR/account/token does not exist)" +
                end);
  // "~" is not expanded: the shell does that.
  environment_ = {.kubeconfig = "~/.kube/config", .home = dir_};
  EXPECT_EQ(Error(), "no cluster to connect to: ~/.kube/config does not exist" +
                         no_pod + end);
}

TEST_F(KubeconfigTest, AnEmptyKubeconfigHasNoContexts) {
  EnterPod();
  for (const char* text : {"", "\n", "# nothing\n", "---\n", "{}", "null"}) {
    EXPECT_EQ(ErrorOf(text),
              "no cluster to connect to: DIR/config has no contexts; give "
              "--kubeconfig, or let scripts/run start one")
        << text;
    // Only without --kubeconfig is the pod's account used instead.
    environment_.kubeconfig = Path("config");
    EXPECT_EQ(Load().source, "the in-cluster account") << text;
    environment_.kubeconfig = "";
  }
}

TEST_F(KubeconfigTest, ReportsTheExistingContexts) {
  const std::string file = Write(
      "config",
      "contexts: [{name: b, context: {}}, {name: \"a\\nb\", context: {}}]\n");
  EXPECT_EQ(Error({.kubeconfig = file}),
            "no current-context, and no --context: DIR/config has \"a?b\", "
            "\"b\"");
  EXPECT_EQ(Error({.kubeconfig = file, .context = "c"}),
            "no context \"c\": DIR/config has \"a?b\", \"b\"");
  environment_.kubeconfig = file + ":" + Write("d", "current-context: e\n");
  EXPECT_EQ(Error(),
            "no context \"e\" (the current-context): DIR/config, DIR/d "
            "has \"a?b\", \"b\"");
  environment_.kubeconfig = "";
  EnterPod();
  EXPECT_EQ(Error({.context = "c"}),
            "no context \"c\": $KUBECONFIG is not set, DIR/.kube/config does "
            "not exist");
}

TEST_F(KubeconfigTest, ReportsTheFileThatCannotBeRead) {
  fs::create_directory(Path("dir"));
  Write("file", "");
  struct Case {
    std::string file;
    std::string error;
  };
  const std::vector<Case> cases = {
      {Path("missing"), "kubeconfig DIR/missing: No such file or directory"},
      {Path("dir"), "kubeconfig DIR/dir: Is a directory"},
      {Path("file/x"), "kubeconfig DIR/file/x: Not a directory"},
  };
  for (const Case& c : cases) EXPECT_EQ(Error({.kubeconfig = c.file}), c.error);
  environment_.kubeconfig = Path("missing") + ":" + Path("dir");
  EXPECT_EQ(Error(), "kubeconfig DIR/dir: Is a directory");
  if (geteuid() == 0) return;  // root may read every file
  fs::permissions(Path("file"), fs::perms::none);
  EXPECT_EQ(Error({.kubeconfig = Path("file")}),
            "kubeconfig DIR/file: Permission denied");
}

TEST_F(KubeconfigTest, LoadsThePodsAccount) {
  EnterPod();
  const RestConfig config = Load();
  EXPECT_EQ(config.server, "https://10.96.0.1:443");
  EXPECT_EQ(config.ca_data, ca_.certificate);
  EXPECT_EQ(config.bearer_token, "pod-token");
  EXPECT_EQ(config.bearer_token_file, Path("account/token"));
  EXPECT_EQ(config.source, "the in-cluster account");

  environment_.service_host = "fd00::1";
  EXPECT_EQ(Load().server, "https://[fd00::1]:443");
}

TEST_F(KubeconfigTest, ReportsTheProblemOfThePodsAccount) {
  EnterPod();
  Write("account/ca.crt", "secret");
  EXPECT_EQ(Error(),
            "in-cluster account: DIR/account/ca.crt: no PEM certificate found");
  fs::remove(Path("account/ca.crt"));
  EXPECT_EQ(Error(),
            "in-cluster account: DIR/account/ca.crt: No such file or "
            "directory");
  Write("account/token", "");
  EXPECT_EQ(Error(), "in-cluster account: DIR/account/token is empty");
}

TEST(ProcessEnvironment, ReadsTheProcessEnvironment) {
  const char* value = getenv("HOME");
  const auto home = value ? std::optional<std::string>(value) : std::nullopt;
  ASSERT_EQ(setenv("KUBECONFIG", "/a:/b", 1), 0);
  ASSERT_EQ(setenv("HOME", "/home/u", 1), 0);
  ASSERT_EQ(setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1", 1), 0);
  ASSERT_EQ(setenv("KUBERNETES_SERVICE_PORT", "443", 1), 0);
  const ConfigEnvironment environment = ProcessEnvironment();
  EXPECT_EQ(environment.kubeconfig, "/a:/b");
  EXPECT_EQ(environment.home, "/home/u");
  EXPECT_EQ(environment.service_host, "10.96.0.1");
  EXPECT_EQ(environment.service_port, "443");
  EXPECT_EQ(environment.service_account_dir,
            "/var/run/secrets/kubernetes.io/serviceaccount");
  ASSERT_EQ(unsetenv("KUBECONFIG"), 0);
  EXPECT_EQ(ProcessEnvironment().kubeconfig, "");
  // Other tests run in this process.
  unsetenv("KUBERNETES_SERVICE_HOST");
  unsetenv("KUBERNETES_SERVICE_PORT");
  if (home) setenv("HOME", home->c_str(), 1);
}

}  // namespace
}  // namespace minisched
