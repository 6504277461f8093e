#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "minisched/app/pace.h"
#include "minisched/http/http.h"
#include "minisched/trace/trace.h"

namespace minisched {

// The path /configz, and the paths under /debug, at which a scheduler serves
// its trace to other programs, such as minisched-live. docs/reference/trace.md
// describes the latter:
//
//   GET /debug                       what this scheduler is, and its pace
//   GET /debug/trace                 the records as a stream of JSON lines
//   GET /debug/trace/attempts/UID/N  the whole record of an attempt
//   POST /debug/pace                 {"pace": "run", "pause", "step", "500ms"}
//   POST /debug/waiting              {"uid", "allow"}: ends a wait on Permit
//   GET /configz                     the scheduler's configuration
//
// They accept only programs on this machine. Used on the server's thread.
class DebugPaths {
 public:
  // The most streams at a time.
  static constexpr std::size_t kMaxStreams = 32;
  // How often a stream looks for new records.
  static constexpr std::chrono::milliseconds kPeriod{50};

  struct Options {
    std::string program;         // "minisched-07"
    std::string scheduler_name;  // of its pods
    std::string configz;         // JSON; empty: there is no /configz
    bool control = false;        // whether POST is allowed
  };

  // `trace` and `pace` must outlive the object and its replies. Makes the trace
  // keep the last failed attempt of each pending pod, for later readers.
  DebugPaths(Trace& trace, PaceSetter& pace, Options options);

  // Returns the reply to a request, or nullopt for another path.
  std::optional<http::Reply> Answer(const http::Request& request);

 private:
  class RecordStream;

  http::Reply AnswerGet(const http::Request& request);
  http::Reply AnswerPost(const http::Request& request);
  http::Reply Describe();
  http::Reply OpenStream(const http::Request& request);
  http::Reply GetAttempt(const std::string& name) const;

  Trace& trace_;
  PaceSetter& pace_;
  const Options options_;
  const std::string run_;  // differs in another process
  std::size_t streams_ = 0;
};

}  // namespace minisched
