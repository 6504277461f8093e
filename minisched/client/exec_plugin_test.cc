#include "minisched/client/exec_plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>

#include "minisched/client/client_testing.h"
#include "minisched/client/exec_testing.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using testing::StartsWith;

class ExecPluginTest : public ExecTest {
 protected:
  static ExecCredential Run(const ExecConfig& exec) {
    return RunExecPlugin({.server = "https://h", .exec = exec}, {});
  }

  // Returns the error without its beginning, which names the user and the
  // command. Fails the test if the error contains "secret".
  static std::string ErrorOf(const ExecConfig& exec) {
    const Outcome outcome = OutcomeOf([&] { Run(exec); });
    EXPECT_EQ(outcome.kind, "ConfigError") << outcome;
    EXPECT_EQ(outcome.message.find("secret"), std::string::npos) << outcome;
    const std::string start =
        "FILE: user \"u\": exec command \"" + exec.command.front() + "\"";
    EXPECT_THAT(outcome.message, StartsWith(start));
    return outcome.message.substr(
        std::min(start.size(), outcome.message.size()));
  }

  std::string ErrorOfScript(const std::string& script) const {
    ExecConfig exec = Exec(script);
    exec.command.push_back("secret argument");
    return ErrorOf(exec);
  }
};

TEST_F(ExecPluginTest, ReturnsWhatTheProgramPrints) {
  EXPECT_EQ(Run(Exec(Print(R"("token": "t")"))).token, "t");
}

TEST_F(ExecPluginTest, PassesArgumentsAndEnvironment) {
  ExecConfig exec = Exec(R"(echo "$1|$A|$KUBERNETES_EXEC_INFO" >"$DIR/got")"
                         "\n" +
                         Print(R"("token": "t")"));
  exec.command.insert(exec.command.end(), {"sh", "argument"});
  exec.environment["A"] = "a b";
  exec.environment["KUBERNETES_EXEC_INFO"] = "overridden";
  Run(exec);
  EXPECT_EQ(Read("got"),
            R"(argument|a b|{"apiVersion":"client.authentication.k8s.io/v1",)"
            R"("kind":"ExecCredential","spec":{"interactive":false}})"
            "\n");
}

TEST_F(ExecPluginTest, RunsAProgramByItsPath) {
  Write("plugin", "#!/bin/sh\n" + Print(R"("token": "t")"));
  std::filesystem::permissions(Path("plugin"),
                               std::filesystem::perms::owner_all);
  ExecConfig exec = Exec("");
  exec.command = {Path("plugin")};
  EXPECT_EQ(Run(exec).token, "t");
}

TEST_F(ExecPluginTest, PassesStandardErrorOn) {
  testing::internal::CaptureStderr();
  Run(Exec("echo note >&2\n" + Print(R"("token": "t")")));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "note\n");
}

TEST_F(ExecPluginTest, ReportsAMissingProgram) {
  ExecConfig exec = Exec("");
  exec.command = {"no-such-plugin", "secret"};
  EXPECT_EQ(ErrorOf(exec),
            " is not on $PATH; install it, or correct the kubeconfig");
  exec.install_hint = "\x1b[1mInstall no-such-plugin:\n\n  apt install it\n";
  EXPECT_EQ(ErrorOf(exec),
            " is not on $PATH; ?[1mInstall no-such-plugin: apt install it");
  exec.command = {Path("plugin")};
  EXPECT_EQ(ErrorOf(exec),
            " does not exist; ?[1mInstall no-such-plugin: apt install it");
}

TEST_F(ExecPluginTest, ReportsAProgramThatDoesNotStart) {
  Write("plugin", "");
  ExecConfig exec = Exec("");
  exec.command = {Path("plugin")};
  EXPECT_EQ(ErrorOf(exec), ": Permission denied");
}

TEST_F(ExecPluginTest, ReportsAProgramThatFails) {
  EXPECT_EQ(ErrorOfScript("echo secret; exit 3"),
            " failed with exit code 3; see its messages on standard error");
  EXPECT_EQ(ErrorOfScript("kill -TERM $$"), " was ended by signal 15");
  EXPECT_EQ(ErrorOfScript("yes secret"),
            " was killed because it printed more than 1 MiB");
}

TEST_F(ExecPluginTest, ReportsOtherOutput) {
  const std::string start = " printed no valid ExecCredential: ";
  EXPECT_EQ(ErrorOfScript(""), start + "the output is empty");
  EXPECT_EQ(ErrorOfScript("echo secret"),
            start + "the output is no JSON object");
  EXPECT_EQ(ErrorOfScript(Print(R"("clientKeyData": "secret")")),
            start + "status has a clientKeyData but no clientCertificateData");
}

TEST_F(ExecPluginTest, KillsAProgramAfterItsTimeout) {
  ExecConfig exec = Exec("exec sleep 1000");
  exec.timeout = 10ms;
  EXPECT_EQ(ErrorOf(exec),
            " was killed because it did not end within 0.01 s; it cannot ask "
            "for a login here, so log in before");
}

TEST_F(ExecPluginTest, KillsAProgramWhenTheTokenAsksToStop) {
  const RestConfig config{.server = "https://h",
                          .exec = Exec(AwaitGate() + "exec sleep 1000")};
  ExpectStopsPromptly(
      [&](const std::stop_token& stop) { RunExecPlugin(config, stop); },
      [&] { Gate(); });
}

}  // namespace
}  // namespace minisched
