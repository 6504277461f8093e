#pragma once

#include <string>
#include <vector>

#include "minisched/trace/records.h"

namespace minisched {

// Returns a table of the attempt, nodes × plugins, after a line with its
// outcome. No line end follows the last line.
//
//   ✓  the node fits        ✗   the first objection: it counts
//   ·  the plugin wasn't    (✗) a later objection
//      asked
//
// A score is shown as raw/normalized/weighted. Shows at most `max_nodes` nodes,
// and counts the others.
std::string FormatAttempt(const Attempt& attempt, std::size_t max_nodes = 20);

// Returns a table of the pods that are neither bound nor gone: who is where,
// since when and until when. `records` are in order; the last record of a pod
// counts. Times are relative to `now`. Each line begins with a line end.
std::string FormatPlaces(const std::vector<RecordPtr>& records, Time now);

// Returns how a pod moved, as one line: "default/web → active
// (BackoffComplete)".
std::string FormatMove(const PodRecord& pod, Time now);

// Returns the text with control characters and broken UTF-8 escaped, so that
// text from objects can't break a table or send codes to a terminal.
std::string Printable(const std::string& text);

}  // namespace minisched
