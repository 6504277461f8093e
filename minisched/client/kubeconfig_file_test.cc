#include "minisched/client/kubeconfig_file.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "minisched/client/kubeconfig_testing.h"

namespace minisched {
namespace {

using KubeconfigFileTest = KubeconfigTest;

TEST_F(KubeconfigFileTest, IgnoresUnknownFields) {
  const std::string file =
      Write("config",
            "apiVersion: v1\nkind: Config\nnews: [1, 2]\n" +
                std::string("current-context: \"c\"\n"
                            "contexts: [{name: c, new: 1, context: {cluster: "
                            "k, user: u, new: {}}}]\n"
                            "clusters: [{name: k, cluster: {server: "
                            "\"https://h\", extensions: [{name: x}]}}]\n"
                            "users: [{name: u, user: {new: x, exec: null, "
                            "username: \"\", as-groups: [], token: t}}]\n"));
  EXPECT_EQ(Load({.kubeconfig = file}).bearer_token, "t");
}

TEST_F(KubeconfigFileTest, LoadsJson) {
  const std::string file = Write(
      "config",
      "{\n\t\"current-context\": \"c\",\n"
      "\t\"contexts\": [{\"name\": \"c\", \"context\": {\"cluster\": \"k\"}}],"
      "\n\t\"clusters\": [{\"name\": \"k\",\n"
      "\t\t\"cluster\": {\"server\": \"https:\\/\\/h\"}}]\n}\n");
  EXPECT_EQ(Load({.kubeconfig = file}).server, "https://h");
}

TEST_F(KubeconfigFileTest, ReportsTheProblemInTheYaml) {
  struct Case {
    std::string text;
    std::string error;
  };
  const std::vector<Case> cases = {
      {"a: b\nc: [d\n",
       "DIR/config:3:1: not YAML: end of sequence flow not "
       "found"},
      {"a: b: c\n", "DIR/config:1:5: not YAML: illegal map value"},
      {"\tkind: Config\n", "DIR/config:1:6: not YAML: illegal map value"},
      {"a: \"\\q\"\n", "DIR/config:1:7: not YAML: unknown escape character"},
      {"token: *secret\n",
       "DIR/config:1:8: not YAML: the referenced anchor is not defined"},
      {"secret", "DIR/config: the file must be a map"},
      {"[secret]", "DIR/config: the file must be a map"},
      {"clusters: secret", "DIR/config: clusters must be a list"},
      {"users: {name: u}", "DIR/config: users must be a list"},
      {"contexts: [secret]", "DIR/config: contexts[0] must be a map"},
      {"current-context: [c]", "DIR/config: current-context must be a string"},
      {"clusters: [{name: a}, {name: b},\n {name: c, cluster: {server: [x]}}]",
       "DIR/config: clusters[2].cluster.server must be a string"},
      {"users: [{name: u, user: [x]}]",
       "DIR/config: users[0].user must be a map"},
      {"clusters: [{name: a, cluster: {insecure-skip-tls-verify: secret}}]",
       "DIR/config: clusters[0].cluster.insecure-skip-tls-verify must be true "
       "or false"},
      {"users: [{name: u}, {name: v}, {name: u}]",
       "DIR/config: users[2] is a second user \"u\""},
      {"kind: Pod\napiVersion: v1\n",
       "DIR/config: not a kubeconfig: kind \"Pod\", apiVersion \"v1\""},
      {"kind: Config\napiVersion: v2\n",
       "DIR/config: not a kubeconfig: kind \"Config\", apiVersion \"v2\""},
  };
  for (const Case& c : cases) EXPECT_EQ(ErrorOf(c.text), c.error) << c.text;
}

TEST_F(KubeconfigFileTest, SurvivesDeepNesting) {
  std::string list;
  for (int i = 0; i < 100'000; ++i) list += "- ";
  EXPECT_EQ(ErrorOf(list), "DIR/config:1:1000: not YAML: bad file");
  EXPECT_EQ(ErrorOf(std::string(100'000, '[')),
            "DIR/config:1:1: not YAML: bad file");
  EXPECT_EQ(ErrorOf(std::string(100'000, '{')),
            "DIR/config:1:1: not YAML: bad file");
}

}  // namespace
}  // namespace minisched
