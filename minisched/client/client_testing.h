#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <future>
#include <iterator>
#include <ostream>
#include <stop_token>
#include <string>

#include "minisched/client/errors.h"
#include "minisched/client/rest_config.h"
#include "minisched/client/transport.h"

namespace minisched {

// Longer than the slowest machine needs, and shorter than the deadlines that a
// test must not reach.
inline constexpr std::chrono::seconds kPrompt{20};

// The configuration of a client without a rate limit, and with deadlines longer
// than kPrompt.
inline RestConfig ConfigFor(const std::string& url) {
  return {.server = url,
          .source = "test",
          .qps = 0,
          .connect_timeout = std::chrono::minutes(1),
          .request_timeout = std::chrono::minutes(1)};
}

inline std::size_t CountEntries(const std::string& directory) {
  const std::filesystem::directory_iterator entries(directory);
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

// The threads of this process.
inline std::size_t Threads() { return CountEntries("/proc/self/task"); }

inline const HttpRequest kGetPods{.method = "GET", .path = "/pods"};

// What a call ended with.
struct Outcome {
  // "ok", "ApiError", "Cancelled", "kLost", ...
  std::string kind;
  std::string message;
};

inline std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << outcome.kind << ": " << outcome.message;
}

inline std::string KindName(TransportError::Kind kind) {
  switch (kind) {
    case TransportError::Kind::kConnect:
      return "kConnect";
    case TransportError::Kind::kTls:
      return "kTls";
    case TransportError::Kind::kLost:
      return "kLost";
    case TransportError::Kind::kTimeout:
      return "kTimeout";
    case TransportError::Kind::kProtocol:
      return "kProtocol";
  }
  return "?";
}

template <class Call>
Outcome OutcomeOf(Call call) {
  try {
    call();
    return {"ok", ""};
  } catch (const ApiError& error) {
    return {"ApiError", error.what()};
  } catch (const TransportError& error) {
    return {KindName(error.kind()), error.what()};
  } catch (const Cancelled&) {
    return {"Cancelled", ""};
  } catch (const ConfigError& error) {
    return {"ConfigError", error.what()};
  } catch (const std::invalid_argument& error) {
    return {"invalid_argument", error.what()};
  }
}

// Runs `call` on another thread. When `ready` returns, because the call blocks,
// asks the call to stop, and expects that it ends promptly.
template <class Call, class Ready>
void ExpectStopsPromptly(Call call, Ready ready) {
  std::stop_source stop;
  auto outcome = std::async(std::launch::async, [&] {
    return OutcomeOf([&] { call(stop.get_token()); });
  });
  ready();
  const auto start = std::chrono::steady_clock::now();
  stop.request_stop();
  const Outcome end = outcome.get();
  EXPECT_EQ(end.kind, "Cancelled") << end;
  EXPECT_LT(std::chrono::steady_clock::now() - start, kPrompt);
}

}  // namespace minisched
