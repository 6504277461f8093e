#include "lab/explain/dump_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "lab/apiserver/object.h"
#include "lab/explain/errors.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"
#include "minisched/client/config_files.h"

namespace minisched::explain {
namespace {

using apiserver::Get;
using apiserver::GetString;
using apiserver::Json;

// The kind of an object that may lack its own.
struct Kind {
  std::string version;
  std::string kind;
};

// The members of an export of kube-scheduler-simulator.
const std::map<std::string, Kind> kSimulator = {
    {"namespaces", {"v1", "Namespace"}},
    {"nodes", {"v1", "Node"}},
    {"pods", {"v1", "Pod"}},
    {"priorityClasses", {"scheduling.k8s.io/v1", "PriorityClass"}},
    {"pvcs", {"v1", "PersistentVolumeClaim"}},
    {"pvs", {"v1", "PersistentVolume"}},
    {"storageClasses", {"storage.k8s.io/v1", "StorageClass"}}};

constexpr char kSpace[] = " \n\r\t";

// Returns "LINE:COLUMN" of a place in the text.
std::string PositionAt(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  return fmt::format("{}:{}", std::ranges::count(before, '\n') + 1,
                     offset - (before.rfind('\n') + 1) + 1);
}

// Returns the end of the JSON object at the begin of the text, or npos if the
// object is cut off. Does not check the object.
std::size_t FindEnd(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return text.npos;
}

// Reads one document. Passes the objects of a list on while it parses, so that
// the list is never in memory as a whole.
class DocumentReader {
 public:
  DocumentReader(const std::string& source, Objects& objects, bool replace)
      : source_(source), objects_(objects), replace_(replace) {}

  // Returns a list without its objects, or null if the document is no list.
  // Throws Json::parse_error, and CannotTell.
  Json Read(std::string_view text) {
    Json document = Json::parse(
        text, [this](int depth, Json::parse_event_t what, Json& value) {
          return Continue(depth, what, value);
        });
    if (!document.is_object()) Fail("expected an object, found something else");
    if (IsRecording(document)) return ReadLine(std::move(document));
    if (is_list_) {
      // These items came before the kind of their list.
      for (Json& item : document["items"]) Take(std::move(item), item_kind_);
      return document;
    }
    if (is_simulator_) return document;
    if (GetString(document, "kind").empty()) {
      Fail("this is no Kubernetes object: it has no kind");
    }
    // Moved, because a copy of a deep object takes much of the stack.
    Take(std::move(document), {});
    return nullptr;
  }

  bool is_recording() const { return is_recording_; }

 private:
  bool IsRecording(const Json& document) {
    is_recording_ =
        (document.contains("event") && Get(document, "resource").is_object()) ||
        (document.contains("v") && document.contains("sequence"));
    return is_recording_;
  }

  Json ReadLine(Json line) {
    if (GetString(line, "event") == "Delete") {
      objects_.Remove(line["resource"]);
    } else if (line.contains("event")) {
      objects_.Add(std::move(line["resource"]), source_, /*replace=*/true);
    }
    return nullptr;
  }

  // The callback of the parser. Returns false to drop a value.
  bool Continue(int depth, Json::parse_event_t what, Json& value) {
    using Event = Json::parse_event_t;
    if (depth == 1 && what == Event::key) {
      member_ = value.get<std::string>();
    } else if (depth == 1 && what == Event::value && value.is_string()) {
      const auto text = value.get<std::string>();
      if (member_ == "apiVersion") item_kind_.version = text;
      if (member_ == "kind" && text.ends_with("List")) {
        is_list_ = true;
        item_kind_.kind = text.substr(0, text.size() - 4);  // "" of a List
      }
    } else if (depth == 2 && what == Event::object_end) {
      return !TakeItem(value);
    }
    return true;
  }

  // Returns false if the value stays in the document.
  bool TakeItem(Json& value) {
    if (member_ == "items") {
      const bool is_known =
          value.contains("kind") || (is_list_ && !item_kind_.version.empty());
      if (is_known) Take(std::move(value), item_kind_);
      return is_known;
    }
    const auto simulated = kSimulator.find(member_);
    if (simulated == kSimulator.end()) return false;
    is_simulator_ = true;
    Take(std::move(value), simulated->second);
    return true;
  }

  // Adds an object. `kind` is that of the list: the items of a PodList are
  // pods, and need no kind.
  void Take(Json object, const Kind& kind) {
    if (!object.is_object()) Fail("an item of the list is no object");
    if (!object.contains("kind")) {
      object["apiVersion"] = kind.version;
      object["kind"] = kind.kind;
    }
    objects_.Add(std::move(object), source_, replace_);
  }

  [[noreturn]] void Fail(const std::string& what) const {
    throw CannotTell(source_ + ": " + what);
  }

  const std::string& source_;
  Objects& objects_;
  const bool replace_;
  std::string member_;  // the last key of the document
  Kind item_kind_;      // that of items without a kind
  bool is_list_ = false;
  bool is_simulator_ = false;
  bool is_recording_ = false;
};

void ReadJson(std::string_view text, const std::string& source,
              Objects& objects) {
  bool is_recording = false;
  for (std::size_t at = 0;
       (at = text.find_first_not_of(kSpace, at)) != text.npos;) {
    const auto fail = [&](std::size_t offset, const std::string& what) {
      throw CannotTell(source + ":" + PositionAt(text, offset) + ": " + what);
    };
    if (text[at] != '{') fail(at, "expected a JSON object");
    const std::size_t size = FindEnd(text.substr(at));
    if (size == text.npos) {
      // The scheduler may have been killed while it wrote the last line.
      if (is_recording) return;
      fail(at, "the object that begins here is cut off: save the dump again");
    }
    DocumentReader reader(source, objects, /*replace=*/false);
    try {
      reader.Read(text.substr(at, size));
    } catch (const Json::parse_error& error) {
      const std::string what = error.what();
      fail(at + std::max<std::size_t>(error.byte, 1) - 1,
           "malformed JSON: " + what.substr(what.rfind(": ") + 2));
    }
    is_recording = reader.is_recording();
    at += size;
  }
}

void ReadYaml(std::string_view text, const std::string& source,
              Objects& objects) {
  try {
    for (const std::string& document : YamlToJson(text)) {
      DocumentReader(source, objects, /*replace=*/false).Read(document);
    }
  } catch (const ParseError& error) {
    throw CannotTell(source + ": " + error.what());
  }
}

// Returns the files of a dump in a folder.
std::vector<std::string> FilesBelow(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    const auto extension = entry.path().extension();
    if (entry.is_regular_file() &&
        (extension == ".json" || extension == ".yaml" || extension == ".yml")) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  if (files.empty()) {
    throw CannotTell(folder + ": the folder has no .json, .yaml or .yml file");
  }
  return files;
}

}  // namespace

void ReadDump(const std::string& path, Objects& objects,
              const std::stop_token& stop) {
  if (std::filesystem::is_directory(path)) {
    for (const std::string& file : FilesBelow(path)) {
      ReadDump(file, objects, stop);
    }
    return;
  }
  const std::string text =
      ReadFileOrPipe(path == "-" ? "/dev/stdin" : path, "-f " + path, stop);
  ReadDumpText(text, path == "-" ? "standard input" : path, objects);
}

void ReadDumpText(std::string_view text, const std::string& source,
                  Objects& objects) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) {
    throw CannotTell(source + ": it is empty: save the dump again");
  }
  if (text[begin] != '{') return ReadYaml(text, source, objects);
  // A map of YAML may begin with a brace, too.
  const std::size_t next = text.find_first_not_of(kSpace, begin + 1);
  const bool is_json = next != text.npos && text[next] == '"';
  return is_json ? ReadJson(text, source, objects)
                 : ReadYaml(text, source, objects);
}

std::string ReadPage(const std::string& text, const std::string& source,
                     Objects& objects) {
  try {
    const Json page =
        DocumentReader(source, objects, /*replace=*/true).Read(text);
    return GetString(page, "metadata", "continue");
  } catch (const Json::parse_error& error) {
    throw CannotTell(source + ": the server's response is malformed JSON");
  }
}

}  // namespace minisched::explain
