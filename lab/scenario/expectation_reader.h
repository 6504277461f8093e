#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lab/scenario/fields.h"
#include "lab/scenario/scenario.h"

namespace minisched::scenario {

// What the steps before an expectation create. The reader uses it to reject an
// expectation that can't come true.
struct Known {
  std::vector<std::string> nodes;  // empty: the cluster's nodes
  std::set<std::string> pods;      // names of the created pods
  bool other_pods = false;         // a workload may create more
};

// Reads one expectation. Throws CannotPlay.
Expectation ReadExpectation(const Field& field, const Known& known);

// Formats a value for a line of the story: strings without quotes, lists joined
// with commas.
std::string DescribeValue(const Json& value);

// Returns true if the text matches the glob, as fnmatch(3) does.
bool MatchesGlob(const std::string& glob, const std::string& text);
bool MatchesAnyGlob(const std::vector<std::string>& globs,
                    const std::string& text);

}  // namespace minisched::scenario
