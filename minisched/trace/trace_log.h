#pragma once

#include <stop_token>

#include "minisched/trace/trace.h"

namespace minisched {

// Logs each attempt that `reader` returns once as a table (level debug), and
// each move of a pod as a line (level trace). Warns of missing records. Returns
// when `stop` asks to stop and all records are logged.
void LogTrace(TraceReader& reader, const std::stop_token& stop);

// Logs the places of the pods that are neither bound nor gone (level info),
// with the active pods in the order of the queue.
void LogPlaces(const Trace& trace);

}  // namespace minisched
