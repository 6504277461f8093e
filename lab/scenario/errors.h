#pragma once

#include <stdexcept>

namespace minisched::scenario {

// Thrown when a scenario can't be played: its file is invalid, the server
// rejects a request, or a program does not start. what() is one line for users.
class CannotPlay : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thrown when the scheduler's metrics can't be read. what() is one line with
// the URL and the reason.
class MetricsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace minisched::scenario
