#include "lab/benchmark/allocations.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>

namespace minisched {
namespace {

using Block = std::array<char, 100>;

// Globals, because the compiler may omit the allocations of local variables.
std::unique_ptr<Block> block;
std::unique_ptr<Block[]> more_blocks;

TEST(AllocationsTest, CountsObjects) {
  const Allocations before = AllocationsOfThisThread();
  block = std::make_unique<Block>();
  block = nullptr;
  const Allocations after = AllocationsOfThisThread();
  EXPECT_EQ(after.count - before.count, 1);
  EXPECT_EQ(after.bytes - before.bytes, 100);
}

TEST(AllocationsTest, CountsAnArrayAsOneAllocation) {
  const Allocations before = AllocationsOfThisThread();
  more_blocks = std::make_unique<Block[]>(3);
  more_blocks = nullptr;
  const Allocations after = AllocationsOfThisThread();
  EXPECT_EQ(after.count - before.count, 1);
  EXPECT_EQ(after.bytes - before.bytes, 300);
}

TEST(AllocationsTest, DoesNotCountOtherThreads) {
  Allocations of_thread;
  Allocations before;
  std::thread thread([&] {
    before = AllocationsOfThisThread();
    block = std::make_unique<Block>();
    of_thread = AllocationsOfThisThread();
  });
  thread.join();
  EXPECT_EQ(of_thread.count - before.count, 1);
  const Allocations here = AllocationsOfThisThread();
  std::thread([&] { more_blocks = std::make_unique<Block[]>(1000); }).join();
  EXPECT_LT(AllocationsOfThisThread().bytes - here.bytes, 1000);
}

}  // namespace
}  // namespace minisched
