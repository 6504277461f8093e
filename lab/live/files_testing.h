#pragma once

#include <string>

#include "lab/scenario/files_testing.h"

namespace minisched::live {

// A temporary file for one test. The destructor removes it.
class TestFile {
 public:
  explicit TestFile(const std::string& text)
      : path_(directory_.Write("r", text)) {}

  const std::string& path() const { return path_; }

 private:
  const scenario::TestDirectory directory_;
  const std::string path_;
};

// Returns lines of a recording. The time is in seconds.
inline std::string TimeText(int time) {
  const std::string text = std::to_string(100 + time);
  return "2026-01-01T00:00:" + text.substr(1) + ".000000Z";
}
inline std::string ObjectLine(int time, const std::string& event,
                              const std::string& resource) {
  return R"({"time":")" + TimeText(time) + R"(","event":")" + event +
         R"(","resource":)" + resource + "}\n";
}
inline std::string RecordLine(int time, int sequence,
                              const std::string& state) {
  return R"({"v":2,"sequence":)" + std::to_string(sequence) + R"(,"time":")" +
         TimeText(time) + "\"," + state + "}\n";
}

// Returns objects as JSON. The uid is "uid-NAME".
inline std::string NodeJson(const std::string& name,
                            const std::string& spec = "{}") {
  return R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name +
         R"(","uid":"uid-)" + name + R"(","resourceVersion":"7"},"spec":)" +
         spec +
         R"(,"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"9"}}})";
}
inline std::string PodJson(const std::string& name, const std::string& spec,
                           const std::string& more_metadata = "",
                           const std::string& status = "{}") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"ns",)"
         R"("name":")" +
         name + R"(","uid":"uid-)" + name + "\"" + more_metadata +
         R"(},"spec":)" + spec + R"(,"status":)" + status + "}";
}
// Returns what the line of a deletion has of an object.
inline std::string PodReference(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"ns",)"
         R"("name":")" +
         name + R"("}})";
}

// Returns the state of records.
inline std::string PodState(const std::string& name, const std::string& place) {
  return R"("pod":{"name":"ns/)" + name + R"(","uid":"uid-)" + name +
         R"(","place":")" + place + R"("})";
}
inline std::string AttemptState(const std::string& name, int number,
                                const std::string& more = "") {
  return R"("attempt":{"pod":"ns/)" + name + R"(","uid":"uid-)" + name +
         R"(","attempt":)" + std::to_string(number) +
         R"(,"allNodes":2,"feasibleNodes":1)" + more + "}";
}

}  // namespace minisched::live
