#include "lab/live/record_lines.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "minisched/api/parse_error.h"
#include "minisched/live/json.h"

namespace minisched::live {
namespace {

constexpr int kVersion = 2;

// Returns a member that must exist. Throws ParseError.
template <class T>
T Required(const Json& object, const char* name) {
  try {
    return object.at(name).get<T>();
  } catch (const Json::exception&) {
    throw ParseError(fmt::format("its \"{}\" is missing or wrong", name));
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
  if (record.contains("pod")) {
    const Json& pod = record["pod"];
    Required<std::string>(pod, "name");
    Required<std::string>(pod, "place");
    return Required<std::string>(pod, "uid") + "/pod";
  }
  if (record.contains("attempt")) {
    const Json& attempt = record["attempt"];
    Required<std::string>(attempt, "pod");
    Required<std::uint64_t>(attempt, "allNodes");
    Required<std::uint64_t>(attempt, "feasibleNodes");
    return fmt::format("{}/attempt/{}", Required<std::string>(attempt, "uid"),
                       Required<int>(attempt, "attempt"));
  }
  if (record.contains("queue")) {
    Required<std::uint64_t>(record["queue"], "length");
    Required<std::vector<std::string>>(record["queue"], "active");
    return "/queue";
  }
  return record.contains("scheduler") ? "/scheduler" : "";
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
  LineHead head;
  if (!is_object) {
    CheckVersion(Required<int>(line, "v"));
    head.sequence = Required<std::uint64_t>(line, "sequence");
  }
  head.time = ParseTime(Required<std::string>(line, "time"));
  return head;
}

std::optional<Item> RecordItem(const Json& record) {
  Item item{.key = KeyOf(record), .time = ReadHead(record).time};
  if (item.key.empty()) return std::nullopt;
  Json shown = record;
  shown["time"] = FormatMicroTime(item.time);
  if (record.contains("attempt")) {
    for (const char* name : {"fits", "scores", "rejected"}) {
      shown["attempt"].erase(name);
    }
  }
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
