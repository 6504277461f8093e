#pragma once

#include <stdexcept>

namespace minisched::scenario {

// Why a scenario can't be played: a file that is wrong, a server that isn't
// there, a program that doesn't start. what() is one line, fit for a user.
class CannotPlay : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace minisched::scenario
