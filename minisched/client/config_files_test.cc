#include "minisched/client/config_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>

#include "minisched/client/client_testing.h"
#include "minisched/client/kubeconfig_testing.h"
#include "testing/log_capture.h"

namespace minisched {
namespace {

class ConfigFilesTest : public KubeconfigTest {
 protected:
  std::string MakePipe() const {
    EXPECT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
    return Path("pipe");
  }

  // Begins to load the kubeconfig from this file.
  std::future<Outcome> Loading(const std::string& file) const {
    return std::async(std::launch::async, [this, file] {
      return OutcomeOf([&] { Load({.kubeconfig = file}); });
    });
  }
};

// As `--kubeconfig <(command)`.
TEST_F(ConfigFilesTest, ReadsAKubeconfigFromAPipe) {
  const std::string pipe = MakePipe();
  auto outcome = Loading(pipe);
  // Opening the pipe blocks until it has a reader.
  std::ofstream writer(pipe);
  writer << OneContext(kServer, "").substr(0, 20) << std::flush;
  writer << OneContext(kServer, "").substr(20) << std::flush;
  EXPECT_EQ(outcome.wait_for(std::chrono::seconds(0)),
            std::future_status::timeout);
  writer.close();
  const Outcome end = outcome.get();
  EXPECT_EQ(end.kind, "ok") << end;
}

TEST_F(ConfigFilesTest, AnEmptyPipeIsAnEmptyKubeconfig) {
  const std::string pipe = MakePipe();
  auto outcome = Loading(pipe);
  std::ofstream(pipe).close();
  EXPECT_EQ(outcome.get().message,
            "no cluster to connect to: " + pipe +
                " has no contexts; give "
                "--kubeconfig, or let scripts/run start one");
}

TEST_F(ConfigFilesTest, AnErrorBeginsWithThePlace) {
  const Outcome outcome =
      OutcomeOf([] { ReadFileOrPipe("/none", "--config /none", {}); });
  EXPECT_EQ(outcome.kind, "ConfigError");
  EXPECT_EQ(outcome.message, "--config /none: No such file or directory");
}

// The shell's command may have ended before its pipe is opened.
TEST_F(ConfigFilesTest, AnEmptyPipeMayHaveNoWriterAnymore) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[1]);
  std::error_code error;
  EXPECT_EQ(ReadFileOrPipe("/dev/fd/" + std::to_string(ends[0]), {}, error),
            "");
  EXPECT_FALSE(error);
  close(ends[0]);
}

TEST_F(ConfigFilesTest, ReadsADevice) {
  std::error_code error;
  EXPECT_EQ(ReadFileOrPipe("/dev/null", {}, error), "");
  EXPECT_FALSE(error);
}

TEST_F(ConfigFilesTest, AStopEndsTheWaitForAPipesWriter) {
  const std::string pipe = MakePipe();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(OutcomeOf([&] {
              LoadRestConfig({.kubeconfig = pipe}, environment_,
                             stop.get_token());
            }).kind,
            "Cancelled");
}

TEST_F(ConfigFilesTest, AStopEndsTheWaitForAPipesEnd) {
  const std::string pipe = MakePipe();
  std::ofstream writer;
  ExpectStopsPromptly(
      [&](const std::stop_token& stop) {
        LoadRestConfig({.kubeconfig = pipe}, environment_, stop);
      },
      [&] {
        writer.open(pipe);  // blocks until the pipe has a reader
        writer << "contexts:" << std::flush;
      });
}

TEST_F(ConfigFilesTest, LogsThatItWaitsForAPipe) {
  const std::string pipe = MakePipe();
  const LogCapture log;
  std::stop_source stop;
  auto outcome = std::async(std::launch::async, [&] {
    return OutcomeOf([&] {
      LoadRestConfig({.kubeconfig = pipe}, environment_, stop.get_token());
    });
  });
  const std::ofstream writer(pipe);
  while (log.text().empty()) std::this_thread::yield();
  stop.request_stop();
  EXPECT_EQ(outcome.get().kind, "Cancelled");
  EXPECT_EQ(log.text(), "waiting for the writer of the pipe " + pipe + "\n");
}

// Opening or reading it could block for ever.
TEST_F(ConfigFilesTest, OtherFilesMustBeRegular) {
  MakePipe();
  EXPECT_EQ(ErrorOf(OneContext(kServer, "tokenFile: pipe")),
            "DIR/config: user \"u\": tokenFile DIR/pipe: not a regular file");
  EXPECT_EQ(ErrorOf(OneContext(
                std::string(kServer) + ", certificate-authority: pipe", "")),
            "DIR/config: cluster \"k\": certificate-authority DIR/pipe: not a "
            "regular file");
}

TEST_F(ConfigFilesTest, FollowsLinksToRegularFiles) {
  Write("target", "t");
  std::filesystem::create_symlink("target", Path("link"));
  EXPECT_EQ(ReadFile(Path("link"), "file"), "t");
}

}  // namespace
}  // namespace minisched
