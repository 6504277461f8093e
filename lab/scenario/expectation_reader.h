#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lab/scenario/fields.h"
#include "lab/scenario/scenario.h"

namespace minisched::scenario {

// The nodes and pods that exist before an expectation. ReadExpectation()
// rejects expectations of other nodes and pods.
struct Known {
  std::vector<std::string> nodes;  // empty: the cluster's nodes
  std::set<std::string> pods;      // the pods that earlier steps create
  bool other_pods = false;         // a created object may create more pods
};

// Reads one expectation. Throws CannotPlay.
Expectation ReadExpectation(const Field& field, const Known& known);

// Formats a value for a line of the report: strings without quotes, lists
// joined with commas.
std::string DescribeValue(const Json& value);

// Returns true if the text matches the glob by the rules of fnmatch(3).
bool MatchesGlob(const std::string& glob, const std::string& text);
bool MatchesAnyGlob(const std::vector<std::string>& globs,
                    const std::string& text);

}  // namespace minisched::scenario
