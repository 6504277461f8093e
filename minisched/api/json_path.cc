#include "minisched/api/json_path.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

namespace minisched {
namespace {

// Follows a JSON document from its parser's events.
class KeyReader {
 public:
  using Event = nlohmann::json::parse_event_t;

  std::vector<std::string>& repeated() { return repeated_; }

  void OnEvent(Event event, const nlohmann::json& parsed) {
    switch (event) {
      case Event::object_start:
        frames_.emplace_back();
        break;
      case Event::array_start:
        frames_.push_back({.index = 0});
        break;
      case Event::key:
        OnKey(parsed);
        break;
      case Event::object_end:
      case Event::array_end:
        frames_.pop_back();
        OnEnd();
        break;
      case Event::value:
        OnEnd();
        break;
    }
  }

 private:
  // A list or object that is not complete yet.
  struct Frame {
    std::optional<std::size_t> index;  // of the next element of a list
    std::string key;                   // of the next member of an object
    std::set<std::string> keys;
  };

  void OnKey(const std::string& key) {
    Frame& frame = frames_.back();
    frame.key = key;
    if (!frame.keys.insert(key).second) repeated_.push_back(Path());
  }

  // A value has ended.
  void OnEnd() {
    if (!frames_.empty() && frames_.back().index) ++*frames_.back().index;
  }

  std::string Path() const {
    std::string path;
    for (const Frame& frame : frames_) {
      path = frame.index ? ElementPath(std::move(path), *frame.index)
                         : MemberPath(std::move(path), frame.key);
    }
    return path;
  }

  std::vector<Frame> frames_;
  std::vector<std::string> repeated_;
};

}  // namespace

std::string MemberPath(std::string path, std::string_view key) {
  // The key of a label or the name of a resource may contain dots.
  if (key.find('.') != std::string_view::npos) {
    return path.append("[").append(key).append("]");
  }
  if (!path.empty()) path += '.';
  return path.append(key);
}

std::string ElementPath(std::string path, std::size_t index) {
  return path.append("[").append(std::to_string(index)).append("]");
}

std::vector<std::string> RepeatedKeys(std::string_view json) {
  KeyReader reader;
  const auto parsed = nlohmann::json::parse(
      json, [&](int /*depth*/, KeyReader::Event event, nlohmann::json& value) {
        reader.OnEvent(event, value);
        return true;
      });
  return std::move(reader.repeated());
}

}  // namespace minisched
