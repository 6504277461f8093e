#include "lab/scenario/fields.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <boost/algorithm/string/join.hpp>

#include "lab/scenario/errors.h"
#include "minisched/api/duration.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"

namespace minisched::scenario {
namespace {

// Returns "LINE:COLUMN: ".
std::string FormatPosition(const YAML::Mark& mark) {
  return std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1) +
         ": ";
}

void RejectDuplicateKeys(const YAML::Node& node, const std::string& file) {
  std::set<std::string> keys;
  for (const auto& child : node) {
    if (!node.IsMap()) {
      RejectDuplicateKeys(child, file);
      continue;
    }
    const auto key = child.first.as<std::string>();
    if (!keys.insert(key).second) {
      throw CannotPlay(file + ":" + FormatPosition(child.first.Mark()) +
                       "duplicate key " + Quoted(key));
    }
    RejectDuplicateKeys(child.second, file);
  }
}

// Returns the position of the value at `place` or, if `key` is true, the
// position of the value's key. For a value from an alias or <<, returns where
// the value is written or, if that can't be found, where it is used.
YAML::Mark Locate(const YAML::Node& root, Json::json_pointer place, bool key) {
  std::vector<std::string> path;
  for (; !place.empty(); place.pop_back()) path.push_back(place.back());
  YAML::Node node = root;
  YAML::Mark mark = root.Mark();
  for (auto step = path.rbegin(); step != path.rend(); ++step) {
    if (node.IsSequence()) {
      node.reset(node[std::stoul(*step)]);
      mark = node.Mark();
      continue;
    }
    const auto member =
        std::find_if(node.begin(), node.end(), [&](const auto& m) {
          return m.first.template as<std::string>("") == *step;
        });
    if (member == node.end()) break;
    mark = key ? member->first.Mark() : member->second.Mark();
    node.reset(member->second);
  }
  return mark;
}

}  // namespace

Document::Document(std::string file, const std::string& text)
    : file_(std::move(file)), text_(text) {
  try {
    const YAML::Node nodes = YAML::Load(text);
    const std::vector<std::string> documents = YamlToJson(text);
    // This call must come after YamlToJson(), which rejects keys that aren't
    // scalars, and anchors that contain themselves. RejectDuplicateKeys() would
    // recurse forever on such an anchor.
    RejectDuplicateKeys(nodes, file_);
    if (documents.size() != 1) {
      throw CannotPlay(file_ + ":1:1: expected one YAML document, found " +
                       std::to_string(documents.size()));
    }
    root_ = Json::parse(documents[0]);
  } catch (const YAML::ParserException& error) {
    throw CannotPlay(file_ + ":" + FormatPosition(error.mark) + error.msg);
  } catch (const ParseError& error) {
    throw CannotPlay(file_ + ": " + error.what());
  }
}

void Document::Fail(const Json::json_pointer& place, bool key,
                    const std::string& message) const {
  throw CannotPlay(file_ + ":" +
                   FormatPosition(Locate(YAML::Load(text_), place, key)) +
                   message);
}

void Field::Fail(const std::string& message) const {
  document_->Fail(place_, false, message);
}

void Field::FailBelow(const Json::json_pointer& place,
                      const std::string& message) const {
  document_->Fail(place_ / place, true, message);
}

void Field::FailKey(const std::string& message) const {
  document_->Fail(place_, true, message);
}

void Field::FailType(std::string_view expected) const {
  std::string name = place_.empty() ? "a scenario" : place_.back();
  Fail(name + ": expected " + std::string(expected) + ", found " +
       (json().is_string()   ? Quoted(json().get<std::string>())
        : json().is_object() ? "a map"
        : json().is_array()  ? "a list"
                             : json().dump()));
}

std::string Field::String() const {
  if (!json().is_string()) FailType("a string");
  auto text = json().get<std::string>();
  if (text.empty()) FailType("a non-empty string");
  return text;
}

std::string Field::Scalar() const {
  if (json().is_string()) return String();
  if (!json().is_primitive() || json().is_null()) {
    FailType("a string, number or boolean");
  }
  return json().dump();
}

bool Field::Bool() const {
  if (!json().is_boolean()) FailType("true or false");
  return json().get<bool>();
}

int Field::Count(int least) const {
  constexpr int kMost = 100'000;
  if (json().is_number_integer() && json() >= least && json() <= kMost) {
    return json().get<int>();
  }
  FailType("a whole number from " + std::to_string(least) + " to " +
           std::to_string(kMost));
}

double Field::Number() const {
  if (!json().is_number()) FailType("a number");
  return json().get<double>();
}

std::chrono::nanoseconds Field::Duration() const {
  try {
    const auto duration = ParseDuration(Scalar());
    if (duration.count() < 0) FailType("a duration of zero or more");
    return duration;
  } catch (const ParseError& error) {
    Fail(error.what());
  }
}

std::vector<std::string> Field::Strings() const {
  std::vector<std::string> strings;
  for (const Field& item : Items()) strings.push_back(item.String());
  return strings;
}

std::vector<Field> Field::Items() const {
  if (!json().is_array()) return {*this};
  if (json().empty()) FailType("a non-empty list");
  std::vector<Field> items;
  for (std::size_t i = 0; i < json().size(); ++i) {
    items.push_back(Field(*document_, json()[i], place_ / i));
  }
  return items;
}

std::string Field::OneOf(const std::vector<std::string_view>& words) const {
  std::string text = Scalar();
  if (std::find(words.begin(), words.end(), text) == words.end()) {
    FailType(boost::algorithm::join(
        std::vector<std::string>(words.begin(), words.end()), " or "));
  }
  return text;
}

bool Field::Has(const std::string& key) const {
  if (!json().is_object()) FailType("a map");
  return json().contains(key);
}

Field Field::operator[](const std::string& key) const {
  if (!Has(key)) Fail("\"" + key + "\" is missing");
  return Field(*document_, json()[key], place_ / key);
}

std::optional<Field> Field::Find(const std::string& key) const {
  if (!Has(key)) return std::nullopt;
  return (*this)[key];
}

void Field::AllowOnly(const std::set<std::string, std::less<>>& keys) const {
  if (!json().is_object()) FailType("a map");
  for (const auto& [key, value] : json().items()) {
    if (keys.contains(key)) continue;
    (*this)[key].FailKey(
        "unknown key " + Quoted(key) + "; known keys: " +
        boost::algorithm::join(
            std::vector<std::string>(keys.begin(), keys.end()), ", "));
  }
}

std::string Field::OneKeyOf(const std::vector<std::string_view>& keys) const {
  std::optional<std::string> found;
  for (const std::string_view key : keys) {
    if (!Has(std::string(key))) continue;
    if (found) {
      (*this)[std::string(key)].FailKey(
          Quoted(key) + " cannot be combined with " + Quoted(*found));
    }
    found = key;
  }
  if (!found) {
    Fail("expected one of these keys: " +
         boost::algorithm::join(
             std::vector<std::string>(keys.begin(), keys.end()), ", "));
  }
  return *found;
}

}  // namespace minisched::scenario
