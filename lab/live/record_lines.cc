#include "lab/live/record_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "lab/live/json.h"
#include "minisched/api/parse_error.h"

namespace minisched::live {
namespace {

constexpr int kVersion = 2;

// Examples of a record and of its states. A member whose name ends with '?' may
// be absent. All elements of a list must be like the element in the example. A
// fraction stands for any number, an integer for any integer.
const Json kRecord = {
    {"v", 2}, {"sequence", 1}, {"time", ""}, {"replaced?", 1}};
const Json kStates = Json::parse(R"({
  "pod": {
    "name": "", "uid": "", "place": "", "event?": "", "plugins?": [""],
    "wakes?": [""], "attempts?": 1, "until?": "", "node?": ""},
  "attempt": {
    "pod": "", "uid": "", "attempt": 1, "allNodes": 1, "feasibleNodes": 1,
    "reasons?": [{"plugin?": "", "reason": "", "nodes": 1}], "filters?": [""],
    "allRejections?": true, "fits?": [""],
    "scores?": [
      {"plugin": "", "weight": 0.5, "raw": [0.5], "normalized": [0.5]}],
    "rejected?": [
      {"node": "", "rejections": [{"plugin?": "", "reasons": [""]}]}],
    "points?": [
      {"point": "", "plugin?": "", "status?": "", "message?": ""}],
    "node?": "", "failure?": ""},
  "queue": {"active": [""], "length": 0},
  "scheduler": {"name": "", "program?": "", "paused?": true}
})");

std::string FindWrongMember(const Json& object, const Json& examples);

bool IsLike(const Json& value, const Json& example) {
  if (example.is_number_float()) return value.is_number();
  if (example.is_number()) return value.is_number_integer();
  if (value.type() != example.type()) return false;
  if (example.is_object()) return FindWrongMember(value, example).empty();
  return !example.is_array() ||
         std::ranges::all_of(value, [&](const Json& element) {
           return IsLike(element, example[0]);
         });
}

// Returns the name of a member that is not like the one of the example, or "".
std::string FindWrongMember(const Json& object, const Json& examples) {
  for (const auto& [key, example] : examples.items()) {
    const bool is_optional = key.ends_with('?');
    const std::string name = key.substr(0, key.size() - (is_optional ? 1 : 0));
    const auto member = object.find(name);
    const bool is_right =
        member == object.end() ? is_optional : IsLike(*member, example);
    if (!is_right) return name;
  }
  return "";
}

// Throws ParseError unless the object has members like those of the examples.
void CheckMembers(const Json& object, const Json& examples) {
  const std::string wrong = FindWrongMember(object, examples);
  if (!wrong.empty()) {
    throw ParseError(fmt::format("its \"{}\" is missing or wrong", wrong));
  }
}

void CheckVersion(int version) {
  if (version < kVersion) {
    throw ParseError(
        fmt::format("the recording has version {}, which this program does not "
                    "read: record it again with the present minisched",
                    version));
  }
  if (version > kVersion) {
    throw ParseError(fmt::format(
        "the recording has version {}, and this program reads only {}: use a "
        "newer minisched-live",
        version, kVersion));
  }
}

// Returns the key of the item of a record, or "" for an unknown record. Throws
// ParseError if the state lacks something that a page needs.
std::string KeyOf(const Json& record) {
  for (const auto& [name, examples] : kStates.items()) {
    if (!record.contains(name)) continue;
    const Json& state = record[name];
    CheckMembers(state, examples);
    std::string key = state.value("uid", "") + "/" + name;
    if (name == "attempt") key += "/" + state["attempt"].dump();
    return key;
  }
  return "";
}

// Returns a copy of the record. An attempt is without its nodes, which may be
// many.
Json Summary(const Json& record) {
  if (!record.contains("attempt")) return record;
  Json summary;
  for (const auto& [name, value] : record.items()) {
    if (name != "attempt") summary[name] = value;
  }
  for (const auto& [name, value] : record["attempt"].items()) {
    const bool has_nodes =
        name == "fits" || name == "scores" || name == "rejected";
    if (!has_nodes) summary["attempt"][name] = value;
  }
  return summary;
}

}  // namespace

void ReadLines(const std::string& path,
               const std::function<void(const Json&, const LinePlace&)>& use) {
  std::ifstream file(path, std::ios::binary);
  const auto fail = [&path] {
    throw RecordingError("cannot read " + path + ": " + std::strerror(errno));
  };
  if (!file) fail();
  LinePlace place;
  for (std::string text; std::getline(file, text);) {
    ++place.number;
    place.size = text.size();
    const Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (line.is_discarded() && file.peek() == EOF) return;
    try {
      if (!line.is_discarded()) {
        use(line, place);
      } else if (text.find_first_not_of(" \t\r") != text.npos) {
        throw ParseError("not JSON: expected a recording of --record");
      }
    } catch (const std::exception& error) {
      throw RecordingError(
          fmt::format("{}:{}: {}", path, place.number, error.what()));
    }
    place.offset += text.size() + 1;
  }
  if (file.bad()) fail();  // a folder, for example
}

LineHead ReadHead(const Json& line) {
  const bool is_object =
      line.is_object() && line.contains("event") && line.contains("resource");
  if (!is_object && !(line.is_object() && line.contains("v"))) {
    throw ParseError(
        "neither a record nor the line of an object: expected a recording of "
        "--record");
  }
  if (is_object) {
    CheckMembers(line, {{"time", ""}});
    return {.time = ParseTime(line["time"].get<std::string>())};
  }
  if (line["v"].is_number_integer()) CheckVersion(line["v"]);
  CheckMembers(line, kRecord);
  return {.time = ParseTime(line["time"].get<std::string>()),
          .sequence = line["sequence"],
          .replaced = line.value("replaced", std::uint64_t{0})};
}

std::optional<Item> RecordItem(const Json& record) {
  Item item{.key = KeyOf(record), .time = ReadHead(record).time};
  if (item.key.empty()) return std::nullopt;
  Json shown = Summary(record);
  shown["time"] = FormatMicroTime(item.time);
  if (record.contains("pod") && record["pod"]["place"] == "gone") {
    item.remains = Remains::kNothing;
  }
  item.json = Dump(shown);
  return item;
}

std::string AttemptKey(const Json& record) {
  if (!record.contains("attempt")) return "";
  const Json& attempt = record["attempt"];
  return fmt::format("{}/{}", attempt["uid"].get<std::string>(),
                     attempt["attempt"].get<int>());
}

}  // namespace minisched::live
