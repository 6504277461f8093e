#include "minisched/trace/trace_log.h"

#include <cstddef>
#include <limits>

#include "minisched/base/log.h"
#include "minisched/trace/tables.h"

namespace minisched {
namespace {

void Log(const Record& record) {
  if (const auto* pod = std::get_if<PodRecord>(&record.state)) {
    spdlog::trace("{}", FormatMove(*pod, record.time));
  } else if (const auto* attempt = std::get_if<Attempt>(&record.state)) {
    // The second report of an attempt only adds the binding cycle.
    if (attempt->reports == 1) spdlog::debug(FormatAttempt(*attempt));
  }
}

}  // namespace

void LogTrace(TraceReader& reader, const std::stop_token& stop) {
  for (;;) {
    const auto records = reader.Next(stop);
    if (records.empty()) return;
    if (reader.missing() > 0) {
      spdlog::warn("the log of attempts is too slow: {} records are missing",
                   reader.missing());
    }
    for (const RecordPtr& record : records) Log(*record);
  }
}

void LogPlaces(const Trace& trace) {
  const QueueRecord order =
      trace.ActiveOrder(std::numeric_limits<std::size_t>::max());
  spdlog::info("the pods of the scheduling queue:{}",
               FormatPlaces(trace.LastOfEachPod(), trace.Now(), order.active));
}

}  // namespace minisched
