#pragma once

#include <random>

namespace minisched {

// Returns the random engine of the calling thread. The system seeds the engine
// at the thread's first call; seeding for each request would cost too much.
std::mt19937_64& ThreadRandom();

}  // namespace minisched
