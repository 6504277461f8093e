#pragma once

#include <cstdint>

namespace minisched {

// Allocations with operator new.
struct Allocations {
  std::int64_t count = 0;
  std::int64_t bytes = 0;  // requested
};

// Returns all allocations of this thread so far. Types with an extended
// alignment (alignas) don't count.
//
// A program that links this function has its own operators new and delete.
Allocations AllocationsOfThisThread();

}  // namespace minisched
