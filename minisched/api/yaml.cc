#include "minisched/api/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>

#include "minisched/api/document.h"
#include "minisched/api/json_path.h"
#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

using Json = nlohmann::json;

// Limit for the JSON that anchors keep plus the JSON that aliases expand to.
constexpr std::size_t kMaxAliasedBytes = 1 << 20;
constexpr std::size_t kMaxDepth = 500;

[[noreturn]] void Fail(const YAML::Mark& mark, const std::string& what) {
  throw ParseError("line " + std::to_string(mark.line + 1) + ", column " +
                   std::to_string(mark.column + 1) + ": " + what);
}

// Plain scalars with a meaning that aren't numbers. Follows go-yaml v2
// resolve.go.
const std::unordered_map<std::string_view, Json> kWords = {
    {"y", true},       {"Y", true},       {"yes", true},    {"Yes", true},
    {"YES", true},     {"true", true},    {"True", true},   {"TRUE", true},
    {"on", true},      {"On", true},      {"ON", true},     {"n", false},
    {"N", false},      {"no", false},     {"No", false},    {"NO", false},
    {"false", false},  {"False", false},  {"FALSE", false}, {"off", false},
    {"Off", false},    {"OFF", false},    {"", nullptr},    {"~", nullptr},
    {"null", nullptr}, {"Null", nullptr}, {"NULL", nullptr}};

// Parses `text` as a number. Returns nullopt unless all of it is one.
template <class Number, class... Format>
std::optional<Number> ReadAll(std::string_view text, Format... format) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number, format...);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

// Parses an integer: 10, 0x1f, 0o17, 017 or 0b101. The sign is in `negative`.
std::optional<Json> ReadInt(std::string_view digits, bool negative) {
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const char kind = digits.size() > 2 ? digits[1] : '0';
    base = kind == 'x' || kind == 'X' ? 16 : kind == 'b' || kind == 'B' ? 2 : 8;
    const bool has_letter = base != 8 || kind == 'o' || kind == 'O';
    digits.remove_prefix(has_letter ? 2 : 1);
  }
  const auto magnitude = ReadAll<std::uint64_t>(digits, base);
  if (!magnitude) return std::nullopt;
  if (!negative) return *magnitude;
  if (*magnitude > std::uint64_t{1} << 63) return std::nullopt;
  return static_cast<std::int64_t>(-*magnitude);
}

// Converts a plain scalar.
Json Resolve(const std::string& text) {
  if (const auto word = kWords.find(text); word != kWords.end()) {
    return word->second;
  }
  const auto is_start = [](char c) {
    return (c >= '0' && c <= '9') || c == '.';
  };
  const bool negative = text.starts_with('-');
  std::string plain = text.substr(negative || text.starts_with('+') ? 1 : 0);
  if (plain.empty() || !is_start(plain[0])) return text;
  if (text[0] != '.') std::erase(plain, '_');
  if (auto number = ReadInt(plain, negative)) return *std::move(number);
  const auto real = ReadAll<double>(plain, std::chars_format::general);
  if (!real) return text;
  // As in Go's output, a number without a fraction becomes an integer.
  if (*real < 1e18 && std::trunc(*real) == *real) {
    const auto integer = static_cast<std::int64_t>(*real);
    return negative ? -integer : integer;
  }
  return negative ? -*real : *real;
}

std::size_t Depth(const Json& value) {
  if (!value.is_structured()) return 0;
  std::size_t depth = 0;
  for (const Json& element : value) depth = std::max(depth, Depth(element));
  return depth + 1;
}

// Builds the JSON of one document from the parser's events.
class Builder : public YAML::EventHandler {
 public:
  // `values_left` is the number of further values that are allowed. Adds the
  // lines and repeated keys to `source`, unless it is null.
  Builder(std::size_t& values_left, YamlSource* source)
      : values_left_(values_left), source_(source) {}

  const Json& root() const { return root_; }
  const YAML::Mark& start() const { return start_; }

  void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(mark, anchor, nullptr);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor, const std::string& text) override {
    // "?" means a plain scalar without a tag, "!" a quoted one.
    static const std::map<std::string_view, bool> kResolved = {
        {"?", true},
        {"tag:yaml.org,2002:bool", true},
        {"tag:yaml.org,2002:float", true},
        {"tag:yaml.org,2002:int", true},
        {"tag:yaml.org,2002:null", true}};
    if (tag == "?" && text == "<<" && AtKey()) {
      frames_.back().key = text;
      frames_.back().merge = true;
      return;
    }
    Add(mark, anchor, kResolved.contains(tag) ? Resolve(text) : Json(text));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto anchored = anchors_.find(anchor);
    if (anchored == anchors_.end()) Fail(mark, "an anchor contains itself");
    if (frames_.size() + anchored->second.depth > kMaxDepth) {
      Fail(mark, "nested too deep");
    }
    Count(mark, anchored->second.bytes);
    Add(mark, 0, anchored->second.value);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    Open(mark, anchor, Json::array());
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    Open(mark, anchor, Json::object());
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapEnd() override { Close(); }

 private:
  // A list or map that is not complete yet.
  struct Frame {
    YAML::Mark mark;
    YAML::anchor_t anchor;
    Json value;
    std::optional<std::string> key;  // the key of the next value
    bool merge = false;              // true if that key is <<
  };
  struct Anchored {
    Json value;
    std::size_t bytes;
    std::size_t depth;
  };

  // Returns true if the next value is the key of a map.
  bool AtKey() const {
    return !frames_.empty() && frames_.back().value.is_object() &&
           !frames_.back().key;
  }

  bool InList() const {
    return !frames_.empty() && frames_.back().value.is_array();
  }

  // Returns the path of the next value, or of the map whose key is next.
  std::string Path() const {
    std::string path;
    for (const Frame& frame : frames_) {
      if (frame.value.is_array()) {
        path = ElementPath(path, frame.value.size());
      } else if (frame.key) {
        path = MemberPath(path, *frame.key);
      }
    }
    return path;
  }

  void SetLine(const YAML::Mark& mark) {
    if (source_ != nullptr) source_->lines.try_emplace(Path(), mark.line + 1);
  }

  void CheckRepeated(const std::string& key) {
    if (source_ == nullptr || !frames_.back().value.contains(key)) return;
    source_->repeated_keys.push_back(MemberPath(Path(), key));
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, Json value) {
    if (AtKey()) Fail(mark, "a key must be a scalar");
    if (InList()) SetLine(mark);
    frames_.push_back({mark, anchor, std::move(value)});
  }

  void Close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    Add(frame.mark, frame.anchor, std::move(frame.value));
  }

  void Count(const YAML::Mark& mark, std::size_t bytes) {
    aliased_bytes_ += bytes;
    if (aliased_bytes_ > kMaxAliasedBytes) Fail(mark, "excessive aliasing");
  }

  // Adds a complete value to the innermost list or map.
  void Add(const YAML::Mark& mark, YAML::anchor_t anchor, Json value) {
    if (values_left_ == 0) Fail(mark, "too many values");
    --values_left_;
    if (anchor != 0) {
      const std::size_t bytes =
          value.dump(-1, ' ', false, Json::error_handler_t::replace).size();
      Count(mark, bytes);
      anchors_[anchor] = {value, bytes, Depth(value)};
    }
    if (frames_.empty()) {
      root_ = std::move(value);
    } else if (InList()) {
      // A list or map has its line already.
      if (!value.is_structured()) SetLine(mark);
      frames_.back().value.push_back(std::move(value));
    } else if (AtKey()) {
      if (value.is_null() || value.is_structured()) {
        Fail(mark, "a key must be a scalar");
      }
      frames_.back().key = value.is_string() ? value : Json(value.dump());
      SetLine(mark);
    } else {
      SetMember(mark, std::move(value));
    }
  }

  void SetMember(const YAML::Mark& mark, Json value) {
    Frame& frame = frames_.back();
    const std::string key = *std::exchange(frame.key, std::nullopt);
    if (!std::exchange(frame.merge, false)) {
      CheckRepeated(key);
      frame.value[key] = std::move(value);
      return;
    }
    // In a list of maps, earlier maps take precedence.
    if (!value.is_array()) value = Json::array({std::move(value)});
    for (auto map = value.rbegin(); map != value.rend(); ++map) {
      if (!map->is_object()) Fail(mark, "<< requires a map");
      for (const auto& [name, member] : map->items()) CheckRepeated(name);
      frame.value.update(*map);
    }
  }

  std::size_t& values_left_;
  YamlSource* source_;
  Json root_;
  YAML::Mark start_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::size_t aliased_bytes_ = 0;
};

// Parses the documents. With their source, keeps empty ones.
std::vector<YamlSource> ParseYaml(std::string_view text, std::size_t max_values,
                                  bool with_source) {
  std::istringstream stream{std::string(text)};
  std::vector<YamlSource> documents;
  try {
    YAML::Parser parser(stream);
    int position = -1;
    while (true) {
      YamlSource source;
      Builder builder(max_values, with_source ? &source : nullptr);
      if (!parser.HandleNextDocument(builder)) return documents;
      // If no document follows, the parser stays where it is.
      if (builder.start().pos == position) {
        Fail(builder.start(), "expected a document");
      }
      position = builder.start().pos;
      if (builder.root().is_null() && !with_source) continue;
      source.json =
          builder.root().dump(-1, ' ', false, Json::error_handler_t::replace);
      documents.push_back(std::move(source));
    }
  } catch (const YAML::Exception& error) {
    Fail(error.mark, error.msg);
  }
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// True if the text needs no quotes, because every reader takes it for this
// string. Some readers take 1:30 for a number, and 2026-11-25 for a date.
bool IsPlain(const std::string& text) {
  constexpr std::string_view kSymbols = "-_./:";
  const auto is_safe = [&](char c) {
    return IsDigit(c) || IsLetter(c) || kSymbols.find(c) != kSymbols.npos;
  };
  if (text.empty() || text.back() == ':') return false;
  if (!std::ranges::all_of(text, is_safe) || !Resolve(text).is_string()) {
    return false;
  }
  return IsLetter(text[0]) || text[0] == '/' ||
         (IsDigit(text[0]) && std::ranges::any_of(text, IsLetter) &&
          text.find(':') == text.npos);
}

// Writes a string in double quotes. JSON's escapes are YAML's, except for those
// of surrogate pairs. So only control characters are escaped.
std::string QuoteYaml(const std::string& text) {
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  std::string quoted;
  for (const char c : Json(text).dump(-1, ' ', /*ensure_ascii=*/false,
                                      Json::error_handler_t::replace)) {
    const auto byte = static_cast<unsigned char>(c);
    // The second byte of U+0080 to U+009F.
    const bool is_c1 = byte >= 0x80 && byte < 0xa0 && quoted.ends_with('\xc2');
    if (is_c1) quoted.pop_back();
    if (is_c1 || byte == 0x7f) {
      quoted += {'\\', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 0xf]};
    } else {
      quoted += c;
    }
  }
  return quoted;
}

std::string WriteScalar(const Json& value) {
  if (!value.is_string()) return value.dump();  // also [] and {}
  const auto& text = value.get_ref<const std::string&>();
  return IsPlain(text) ? text : QuoteYaml(text);
}

// Appends a value in block style: a newline before each member or element, or a
// space before a scalar.
void WriteYaml(const Json& value, const std::string& indent,
               std::string& yaml) {
  if (!value.is_structured() || value.empty()) {
    yaml.append(" ").append(WriteScalar(value));
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      yaml.append("\n").append(indent).append(WriteScalar(key)).append(":");
      WriteYaml(member, member.is_array() ? indent : indent + "  ", yaml);
    }
  } else {
    for (const Json& element : value) {
      yaml.append("\n").append(indent).append("-");
      std::string text;
      WriteYaml(element, indent + "  ", text);
      // The first member of an object stands on the line of the dash.
      const bool has_lines = text[0] == '\n';
      yaml.append(" ").append(text.substr(has_lines ? indent.size() + 3 : 1));
    }
  }
}

}  // namespace

std::string ToYaml(const Json& document) {
  std::string yaml;
  WriteYaml(document, "", yaml);
  return yaml.substr(1) + "\n";
}

std::vector<std::string> YamlToJson(std::string_view text,
                                    std::size_t max_values) {
  // Not all JSON is YAML: surrogate pairs such as "\ud83d\ude00" aren't.
  if (Json::accept(text)) return {std::string(text)};
  std::vector<std::string> documents;
  for (YamlSource& source : ParseYaml(text, max_values, false)) {
    documents.push_back(std::move(source.json));
  }
  return documents;
}

std::vector<YamlSource> ReadYaml(std::string_view text) {
  if (Json::accept(text)) {
    return {{.json = std::string(text), .repeated_keys = RepeatedKeys(text)}};
  }
  return ParseYaml(text, std::numeric_limits<std::size_t>::max(), true);
}

}  // namespace minisched
