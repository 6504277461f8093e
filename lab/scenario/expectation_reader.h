#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lab/scenario/fields.h"
#include "lab/scenario/scenario.h"

namespace minisched::scenario {

// What is known of a scenario where an expectation stands in it, so that one
// that can't come true is refused.
struct Known {
  std::vector<std::string> nodes;  // empty: those of the cluster
  std::set<std::string> pods;      // created up to here, by name
  bool other_pods = false;         // a workload may have made more
};

// Reads one expectation. Throws CannotPlay.
Expectation ReadExpectation(const Field& field, const Known& known);

// A value as a line of a story tells it: strings bare, lists joined.
std::string Tell(const Json& value);

// fnmatch(3).
bool MatchesGlob(const std::string& glob, const std::string& text);
bool MatchesAnyGlob(const std::vector<std::string>& globs,
                    const std::string& text);

}  // namespace minisched::scenario
