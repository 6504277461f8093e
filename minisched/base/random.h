#pragma once

#include <random>

namespace minisched {

// Returns the random engine of the calling thread. The system seeds the engine
// when the thread asks for it first: a seed is too expensive to get one for
// each request.
std::mt19937_64& ThreadRandom();

}  // namespace minisched
