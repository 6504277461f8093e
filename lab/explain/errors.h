#pragma once

#include <stdexcept>

namespace minisched::explain {

// Thrown when the program can't tell whether a pod fits: the dump or a flag is
// wrong, the cluster refuses a request, or the scheduler fails. what() is for
// users: what, where, and what to do.
class CannotTell : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thrown when the copy's server refuses a step.
class RefusedStep : public CannotTell {
 public:
  using CannotTell::CannotTell;
};

}  // namespace minisched::explain
