#include "minisched/client/kubeconfig_exec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "minisched/client/kubeconfig_testing.h"

namespace minisched {
namespace {

using testing::ElementsAre;
using testing::Pair;

using KubeconfigExecTest = KubeconfigTest;

// Returns a kubeconfig whose user has an exec of this version with these
// fields.
std::string WithExec(const std::string& fields,
                     const std::string& version = "v1") {
  return OneContext(
      kServer, "exec: {apiVersion: client.authentication.k8s.io/" + version +
                   ", " + fields + "}");
}

TEST_F(KubeconfigExecTest, LoadsAKubeconfigOfEks) {
  Write(".kube/config",
        "apiVersion: v1\n"
        "clusters:\n"
        "- cluster:\n"
        "    server: https://0123.gr7.eu-west-1.eks.amazonaws.com\n"
        "  name: arn:aws:eks:eu-west-1:1:cluster/demo\n"
        "contexts:\n"
        "- context:\n"
        "    cluster: arn:aws:eks:eu-west-1:1:cluster/demo\n"
        "    user: arn:aws:eks:eu-west-1:1:cluster/demo\n"
        "  name: demo\n"
        "current-context: demo\n"
        "kind: Config\n"
        "users:\n"
        "- name: arn:aws:eks:eu-west-1:1:cluster/demo\n"
        "  user:\n"
        "    exec:\n"
        "      apiVersion: client.authentication.k8s.io/v1beta1\n"
        "      args: [--region, eu-west-1, eks, get-token, --cluster-name, "
        "demo]\n"
        "      command: aws\n"
        "      env:\n"
        "      - name: AWS_PROFILE\n"
        "        value: work\n");
  const RestConfig config = Load();
  ASSERT_TRUE(config.exec);
  EXPECT_EQ(config.exec->api_version, "client.authentication.k8s.io/v1beta1");
  EXPECT_THAT(config.exec->command,
              ElementsAre("aws", "--region", "eu-west-1", "eks", "get-token",
                          "--cluster-name", "demo"));
  EXPECT_THAT(config.exec->environment,
              ElementsAre(Pair("AWS_PROFILE", "work")));
  EXPECT_EQ(config.exec->install_hint, "");
  EXPECT_FALSE(config.exec->provide_cluster_info);
  EXPECT_EQ(config.exec->cluster_config, "");
  EXPECT_EQ(
      config.exec->source,
      Path(".kube/config") + ": user \"arn:aws:eks:eu-west-1:1:cluster/demo\"");
}

TEST_F(KubeconfigExecTest, LoadsAKubeconfigOfGke) {
  Write(".kube/config",
        WithExec("command: gke-gcloud-auth-plugin, args: null, env: null, "
                 "installHint: \"Install it\\nby hand\", "
                 "interactiveMode: IfAvailable, provideClusterInfo: true",
                 "v1beta1"));
  const RestConfig config = Load();
  ASSERT_TRUE(config.exec);
  EXPECT_THAT(config.exec->command, ElementsAre("gke-gcloud-auth-plugin"));
  EXPECT_TRUE(config.exec->environment.empty());
  EXPECT_EQ(config.exec->install_hint, "Install it\nby hand");
  EXPECT_TRUE(config.exec->provide_cluster_info);
}

TEST_F(KubeconfigExecTest, TheLastVariableOfANameCounts) {
  Write(".kube/config",
        WithExec("command: x, interactiveMode: Never, "
                 "env: [{name: A, value: 1}, {name: B}, {name: A, value: 2}]"));
  EXPECT_THAT(Load().exec->environment,
              ElementsAre(Pair("A", "2"), Pair("B", "")));
}

TEST_F(KubeconfigExecTest, ResolvesPathsRelativeToTheKubeconfig) {
  struct Case {
    std::string command;
    std::string resolved;
  };
  const std::vector<Case> cases = {
      {"plugin", "plugin"},
      {"./plugin", Path("a/plugin")},
      {"bin/plugin", Path("a/bin/plugin")},
      {"../plugin", Path("plugin")},
      {"/opt/plugin", "/opt/plugin"},
  };
  for (const Case& c : cases) {
    const std::string file = Write(
        "a/config", WithExec("interactiveMode: Never, command: " + c.command));
    EXPECT_THAT(Load({.kubeconfig = file}).exec->command,
                ElementsAre(c.resolved));
  }
}

TEST_F(KubeconfigExecTest, LoadsTheExtensionOfTheCluster) {
  const std::string other = "{name: other, extension: {secret: 1}}";
  const auto config_of = [&](const std::string& extensions) {
    Write(".kube/config",
          OneContext(kServer + (", extensions: " + extensions),
                     "exec: {apiVersion: client.authentication.k8s.io/v1, "
                     "command: x, interactiveMode: Never}"));
    return Load().exec->cluster_config;
  };
  EXPECT_EQ(config_of("null"), "");
  EXPECT_EQ(config_of("[" + other + "]"), "");
  EXPECT_EQ(config_of("[" + other +
                      ", {name: client.authentication.k8s.io/exec, extension: "
                      "{audience: 06e3fbd18de8, text: \"12\", list: [12, "
                      "on]}}]"),
            R"({"audience":"06e3fbd18de8","list":[12,true],"text":"12"})");
}

TEST_F(KubeconfigExecTest, IgnoresAnExecThatIsNull) {
  Write(".kube/config", OneContext(kServer, "exec: null"));
  EXPECT_FALSE(Load().exec);
}

TEST_F(KubeconfigExecTest, LoadsNoExecWithoutTls) {
  Write(".kube/config",
        OneContext("server: \"http://h\"", "exec: {command: x}"));
  EXPECT_FALSE(Load().exec);
}

TEST_F(KubeconfigExecTest, ReportsTheProblemOfAnExec) {
  const std::string v1 = "apiVersion: client.authentication.k8s.io/v1, ";
  const std::string modes = "; use IfAvailable or Never";
  const std::string versions =
      " is not supported; use client.authentication.k8s.io/v1 or "
      "client.authentication.k8s.io/v1beta1";
  struct Case {
    std::string exec;
    std::string error;
  };
  const std::vector<Case> cases = {
      {"", "exec has no command"},
      {v1 + "interactiveMode: Never", "exec has no command"},
      {"command: x", "exec has no apiVersion"},
      {"command: x, apiVersion: client.authentication.k8s.io/v1alpha1",
       "exec: apiVersion \"client.authentication.k8s.io/v1alpha1\"" + versions},
      {"command: x, apiVersion: v1", "exec: apiVersion \"v1\"" + versions},
      {v1 + "command: x", "exec has no interactiveMode" + modes},
      {v1 + "command: x, interactiveMode: Always",
       "exec: interactiveMode Always needs a terminal, which a scheduler does "
       "not have" +
           modes},
      {v1 + "command: x, interactiveMode: never",
       "exec: no interactiveMode \"never\"" + modes},
      {v1 + "command: x, interactiveMode: Never, env: [{value: secret}]",
       "exec: a variable of env has no name"},
      {v1 + "command: x, interactiveMode: Never", ""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ErrorOf(OneContext(kServer, "exec: {" + c.exec + "}")),
              c.error.empty() ? "" : "DIR/config: user \"u\": " + c.error);
  }
}

TEST_F(KubeconfigExecTest, ReportsWrongTypes) {
  struct Case {
    std::string exec;
    std::string error;
  };
  const std::vector<Case> cases = {
      {"secret", "users[0].user.exec must be a map"},
      {"{args: secret}", "users[0].user.exec.args must be a list"},
      {"{args: [[secret]]}", "users[0].user.exec.args[0] must be a string"},
      {"{env: [secret]}", "users[0].user.exec.env[0] must be a map"},
      {"{provideClusterInfo: secret}",
       "users[0].user.exec.provideClusterInfo must be true or false"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ErrorOf(OneContext(kServer, "exec: " + c.exec)),
              "DIR/config: " + c.error);
  }
  EXPECT_EQ(ErrorOf(OneContext("extensions: secret", "")),
            "DIR/config: clusters[0].cluster.extensions must be a list");
  EXPECT_EQ(ErrorOf(OneContext("extensions: [{name: "
                               "client.authentication.k8s.io/exec, extension: "
                               "{[secret]: 1}}]",
                               "")),
            "DIR/config: cannot be converted to JSON, which the extension "
            "client.authentication.k8s.io/exec needs");
}

}  // namespace
}  // namespace minisched
