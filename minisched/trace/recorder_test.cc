#include "minisched/trace/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "lab/testing/embedded_server.h"
#include "minisched/api/pod.h"
#include "minisched/base/fake_clock.h"
#include "minisched/client/client.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest()
      : directory_(std::filesystem::temp_directory_path() /
                   ("recorder_test." + std::to_string(getpid()))),
        path_(directory_ / "recording.jsonl"),
        server_(
            "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: "
            "default}, spec: {schedulerName: minisched, hostname: unmodelled, "
            "containers: [{name: c, image: i}]}}"),
        client_(server_.config()) {
    std::filesystem::create_directory(directory_);
  }
  ~RecorderTest() override { std::filesystem::remove_all(directory_); }

  // Returns the whole lines of the recording that have this member.
  std::vector<nlohmann::json> Lines(const char* member) const {
    std::ifstream file(path_);
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(file, line) && !file.eof();) {
      nlohmann::json json = nlohmann::json::parse(line);
      if (json.contains(member)) lines.push_back(std::move(json));
    }
    return lines;
  }

  void AwaitLines(const char* member, std::size_t count) const {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (Lines(member).size() < count) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  const std::filesystem::path directory_;
  const std::string path_;
  EmbeddedServer server_;
  Client client_;
  Trace trace_{"minisched"};
};

TEST_F(RecorderTest, RecordsChangesOfObjectsWithAllTheirFields) {
  const Recorder recorder(trace_, client_, path_);
  AwaitLines("resource", 1);
  client_.Patch<Pod>("default", "web", PatchType::kMerge,
                     R"({"metadata":{"labels":{"a":"b"}}})");
  AwaitLines("resource", 2);
  client_.Delete<Pod>("default", "web", {});
  AwaitLines("resource", 4);  // the mark of the deletion, then the deletion

  const std::vector<nlohmann::json> lines = Lines("resource");
  EXPECT_EQ(lines[0]["event"], "Add");
  EXPECT_EQ(lines[0]["resource"]["kind"], "Pod");
  EXPECT_EQ(lines[0]["resource"]["apiVersion"], "v1");
  EXPECT_EQ(lines[0]["resource"]["spec"]["hostname"], "unmodelled");
  EXPECT_EQ(lines[1]["event"], "Update");
  EXPECT_EQ(lines[1]["resource"]["metadata"]["labels"]["a"], "b");
  EXPECT_EQ(lines[3]["event"], "Delete");
  EXPECT_EQ(lines[3]["resource"],
            nlohmann::json::parse(R"({"apiVersion":"v1","kind":"Pod",
                "metadata":{"name":"web","namespace":"default"}})"));
}

TEST_F(RecorderTest, HasWrittenEveryRecordWhenItIsDestroyed) {
  Pod pod;
  pod.metadata.name = "web";
  pod.metadata.uid = "1";
  trace_.Moved(pod, Place::kActive);
  {
    const Recorder recorder(trace_, client_, path_);
    for (int i = 0; i < 100; ++i) trace_.Moved(pod, Place::kInFlight);
  }
  EXPECT_THAT(Lines("scheduler"), SizeIs(1));
  const std::vector<nlohmann::json> lines = Lines("pod");
  ASSERT_THAT(lines, SizeIs(101));
  EXPECT_EQ(lines.front()["pod"]["place"], "active");
  EXPECT_EQ(lines.back()["sequence"], 102);
}

TEST_F(RecorderTest, ASecondReportThatComesAtOnceReplacesTheFirst) {
  {
    const Recorder recorder(trace_, client_, path_);
    trace_.Tried([] { return Attempt{.uid = "1", .number = 1}; });
    trace_.Tried([] { return Attempt{.uid = "1", .number = 1, .node = "n"}; });
    trace_.Tried([] { return Attempt{.uid = "1", .number = 2}; });
  }
  const std::vector<nlohmann::json> lines = Lines("attempt");
  ASSERT_FALSE(lines.empty());
  EXPECT_LE(lines.size(), 3U);  // two, unless a write came between
  EXPECT_EQ(lines[lines.size() - 2]["attempt"]["node"], "n");
}

TEST_F(RecorderTest, DoesNotReplaceAFile) {
  std::ofstream(path_) << "mine";
  EXPECT_THROW(Recorder(trace_, client_, path_), ConfigError);
  std::ifstream file(path_);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "mine");
}

TEST_F(RecorderTest, FailsWithoutADirectory) {
  try {
    const Recorder recorder(trace_, client_, directory_ / "no" / "file");
    FAIL() << "expected an error";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/no/file: cannot create the file: No "
                                        "such file or directory"));
  }
}

TEST_F(RecorderTest, LogsOnceThatTheDeviceIsFull) {
  const auto logger = spdlog::default_logger();
  std::ostringstream log;
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "", std::make_shared<spdlog::sinks::ostream_sink_mt>(log)));
  FakeClock clock;
  {
    const Recorder recorder(trace_, client_, "/dev/full", clock);
    // Two writes, and a third one at the end.
    for (int i = 0; i < 2; ++i) {
      clock.AwaitSleepers(1);
      clock.Advance(std::chrono::milliseconds(20));
    }
  }
  spdlog::set_default_logger(logger);
  const std::string text = log.str();
  const auto first = text.find("cannot write /dev/full: No space left");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("cannot write", first + 1), std::string::npos) << text;
}

}  // namespace
}  // namespace minisched
