#pragma once

#include <stdexcept>

namespace minisched::scenario {

// A scenario can't be played: its file is invalid, the server is unreachable or
// a program does not start. what() is one line for users.
class CannotPlay : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace minisched::scenario
