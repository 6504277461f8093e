#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "lab/live/history.h"
#include "minisched/api/time.h"

// The lines of a recording, as docs/reference/trace.md describes them.

namespace minisched::live {

// Thrown for a recording that can't be read. what() is one line: the file, the
// number of the line, what is wrong, and what to do.
class RecordingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The place of a line in its file.
struct LinePlace {
  std::uint64_t number = 0;  // 1 for the first line
  std::uint64_t offset = 0;  // in bytes
  std::size_t size = 0;      // in bytes, without the end of the line
};

// Calls `use` with each line of a recording. Leaves out empty lines, and the
// last line if it is cut off. Throws RecordingError if the file can't be read,
// if a line is not JSON, or if `use` throws.
void ReadLines(
    const std::string& path,
    const std::function<void(const nlohmann::json&, const LinePlace&)>& use);

// A line of a recording without its state.
struct LineHead {
  Time time;
  // The number of a record; 0 for the line of an object.
  std::uint64_t sequence = 0;
  // How many records just before this one are left out, because later records
  // replace them.
  std::uint64_t replaced = 0;
};

// Throws ParseError if the line is of no kind or version that this program
// knows.
LineHead ReadHead(const nlohmann::json& line);

// Returns the item of a record; an attempt becomes a summary. Returns nullopt
// for the record of something that this program doesn't know. Throws
// ParseError.
std::optional<Item> RecordItem(const nlohmann::json& record);

// Returns the key of an attempt as the page requests it, "UID/NUMBER", or "" if
// the record is not of an attempt. REQUIRES: RecordItem() returned an item.
std::string AttemptKey(const nlohmann::json& record);

}  // namespace minisched::live
