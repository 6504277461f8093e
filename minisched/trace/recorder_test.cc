#include "minisched/trace/recorder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "minisched/api/pod.h"
#include "minisched/base/fake_clock.h"
#include "minisched/client/client.h"
#include "minisched/client/errors.h"
#include "testing/embedded_server.h"
#include "testing/log_capture.h"

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

  // Returns the complete lines of the recording that have this member.
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
  // An update with a deletionTimestamp precedes the deletion.
  AwaitLines("resource", 4);

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

// One read for each change would cost as much as the change itself.
TEST_F(RecorderTest, ReadsChangesOfObjectsTogether) {
  FakeClock clock;
  Client client(server_.config(), clock);
  const Recorder recorder(trace_, client, path_);
  clock.AwaitSleepers(2);  // the watches of pods and nodes
  EXPECT_EQ(clock.NextDeadline(), clock.Now() + std::chrono::milliseconds(20));
}

TEST_F(RecorderTest, TheDestructorWritesAllRemainingRecords) {
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
  FakeClock clock;
  const auto report = [this](int number, const std::string& node) {
    trace_.Tried(
        [&] { return Attempt{.uid = "1", .number = number, .node = node}; });
  };
  {
    // The destructor writes all records, because the clock stands still.
    const Recorder recorder(trace_, client_, path_, clock);
    report(1, "");
    report(1, "node-1");
    report(2, "");
  }
  const std::vector<nlohmann::json> lines = Lines("attempt");
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0]["attempt"]["node"], "node-1");
  EXPECT_EQ(lines[1]["attempt"]["attempt"], 2);
}

TEST_F(RecorderTest, RecordsTheOrderOfActiveQ) {
  std::atomic<std::size_t> length = 0;
  const Trace::Offer offer(trace_, [&](std::size_t) {
    const std::size_t now = length;
    return QueueRecord{std::vector<std::string>(now, "a"), now};
  });
  FakeClock clock;
  {
    const Recorder recorder(trace_, client_, path_, clock);
    clock.AwaitSleepers(1);
    length = 2;
    clock.Advance(std::chrono::milliseconds(20));
    AwaitLines("queue", 1);
    length = 1;
  }
  const std::vector<nlohmann::json> lines = Lines("queue");
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0]["queue"]["active"], nlohmann::json({"a", "a"}));
  EXPECT_EQ(lines[1]["queue"]["length"], 1);
}

TEST_F(RecorderTest, LogsAnErrorIfThePipeHasNoReader) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const int reader = open(path_.c_str(), O_RDONLY | O_NONBLOCK);
  const LogCapture log;
  FakeClock clock;
  {
    const Recorder recorder(trace_, client_, path_, clock);
    close(reader);
  }
  EXPECT_THAT(log.text(), HasSubstr("cannot write " + path_ + ": Broken pipe"));
}

TEST_F(RecorderTest, WarnsOfMissingRecords) {
  Trace small("minisched", RealClock(), {.records = 10});
  Pod pod;
  pod.metadata.uid = "1";
  const LogCapture log;
  FakeClock clock;
  {
    const Recorder recorder(small, client_, path_, clock);
    clock.AwaitSleepers(1);
    clock.Advance(std::chrono::milliseconds(20));
    AwaitLines("scheduler", 1);
    for (int i = 0; i < 15; ++i) small.Moved(pod, Place::kInFlight);
  }
  EXPECT_THAT(log.text(), HasSubstr("5 records are missing"));
}

TEST_F(RecorderTest, DoesNotReplaceAFile) {
  std::ofstream(path_) << "mine";
  EXPECT_THROW(Recorder(trace_, client_, path_), ConfigError);
  std::ifstream file(path_);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "mine");
}

TEST_F(RecorderTest, FailsIfTheDirectoryDoesNotExist) {
  try {
    const Recorder recorder(trace_, client_, directory_ / "no" / "file");
    FAIL() << "expected an error";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/no/file: cannot create the file: No "
                                        "such file or directory"));
  }
}

TEST_F(RecorderTest, LogsOnlyOneErrorIfTheDeviceIsFull) {
  const LogCapture log;
  FakeClock clock;
  {
    const Recorder recorder(trace_, client_, "/dev/full", clock);
    // Two writes, and a third write in the destructor.
    for (int i = 0; i < 2; ++i) {
      clock.AwaitSleepers(1);
      clock.Advance(std::chrono::milliseconds(20));
    }
  }
  const std::string text = log.text();
  const auto first = text.find("cannot write /dev/full: No space left");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("cannot write", first + 1), std::string::npos) << text;
}

}  // namespace
}  // namespace minisched
