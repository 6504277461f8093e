#pragma once

#include <string>
#include <vector>

#include "minisched/trace/records.h"

namespace minisched {

// Returns a table of the attempt, nodes × plugins, after a line with its
// outcome. No line end follows the last line.
//
//   ✓  the pod fits          ✗   the first objection: only this one counts
//   ·  the plugin did not    (✗) a later objection
//      run for this node
//
// A score is shown as raw/normalized/weighted. Shows at most `max_nodes` nodes;
// if there are more, a last line has the counts of all nodes.
std::string FormatAttempt(const Attempt& attempt, std::size_t max_nodes = 20);

// Returns a table of the pods that are neither bound nor gone: the place of
// each pod, since when it is there, and until when. `records` are in order;
// only the last record of a pod counts. Times are relative to `now`. Each line
// begins with a line end.
std::string FormatPlaces(const std::vector<RecordPtr>& records, Time now);

// Returns a pod's move as one line: "default/web → active (BackoffComplete)".
std::string FormatMove(const PodRecord& pod, Time now);

// Returns the text with control characters and broken UTF-8 escaped, so that
// text from objects can't break a table or send codes to a terminal.
std::string Printable(const std::string& text);

}  // namespace minisched
