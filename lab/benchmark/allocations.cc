#include "lab/benchmark/allocations.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local constinit minisched::Allocations allocations;

}  // namespace

// The other forms, such as new[], call these by default.

void* operator new(std::size_t size) {
  ++allocations.count;
  allocations.bytes += static_cast<std::int64_t>(size);
  // malloc(0) may return null.
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept { std::free(memory); }

void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace minisched {

Allocations AllocationsOfThisThread() { return allocations; }

}  // namespace minisched
