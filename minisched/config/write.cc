#include "minisched/config/write.h"

#include <charconv>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "minisched/api/document.h"
#include "minisched/api/duration.h"
#include "minisched/api/yaml.h"
#include "minisched/config/fields.h"

namespace minisched {
namespace {

using Json = nlohmann::json;

class FieldEncoder;

template <class T>
concept EncodedStruct = requires(FieldEncoder& fields, const T& value) {
  VisitFields(fields, value);
};

// Each Encode() writes one value.
void Encode(Json& json, const std::string& value) { json = value; }
void Encode(Json& json, bool value) { json = value; }
void Encode(Json& json, std::int32_t value) { json = value; }
void Encode(Json& json, std::int64_t value) { json = value; }
void Encode(Json& json, float value);
void Encode(Json& json, std::chrono::nanoseconds value);
void Encode(Json& json, const NodeSelector& value);
void Encode(Json& json, const TopologySpreadConstraint& value);
void Encode(Json& json, const Base64& value) { json = value.text; }
void Encode(Json& json, const ExtenderTlsConfig& value);
void Encode(Json& json, const ExtenderManagedResource& value);
void Encode(Json& json, const ExtenderConfig& value);
void Encode(Json& json, const PluginConfig& value);
template <EncodedStruct T>
void Encode(Json& json, const T& value);
template <class T>
void Encode(Json& json, const std::vector<T>& value);
template <class T, class Less>
void Encode(Json& json, const std::map<std::string, T, Less>& value);

// A visitor that writes a struct's fields. As upstream, leaves out lists and
// maps that are empty, and optional fields without a value.
class FieldEncoder {
 public:
  explicit FieldEncoder(Json& json) : json_(json) {}

  template <class T>
  void operator()(std::string_view key, const T& field) const {
    Encode(json_[std::string(key)], field);
  }
  template <class T>
  void operator()(std::string_view key, const std::optional<T>& field) const {
    if (field) Encode(json_[std::string(key)], *field);
  }
  template <class T>
  void operator()(std::string_view key, const std::vector<T>& field) const {
    if (!field.empty()) Encode(json_[std::string(key)], field);
  }
  template <class T, class Less>
  void operator()(std::string_view key,
                  const std::map<std::string, T, Less>& field) const {
    if (!field.empty()) Encode(json_[std::string(key)], field);
  }

 private:
  Json& json_;
};

template <EncodedStruct T>
void Encode(Json& json, const T& value) {
  json = Json::object();
  FieldEncoder fields(json);
  VisitFields(fields, value);
}

void Encode(Json& json, float value) {
  // As Go, writes the fewest digits that identify the float.
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value,
                                 std::chars_format::scientific)
                       .ptr;
  const double number = Json::parse(text, end).get<double>();
  constexpr double kLargestInteger = 1e15;
  const bool is_integer = std::trunc(number) == number;
  if (is_integer && std::abs(number) < kLargestInteger) {
    json = static_cast<std::int64_t>(number);
  } else {
    json = number;
  }
}

void Encode(Json& json, std::chrono::nanoseconds value) {
  json = FormatGoDuration(value);
}

void Encode(Json& json, const NodeSelector& value) {
  // Upstream, this list isn't left out.
  if (value.node_selector_terms.empty()) {
    json["nodeSelectorTerms"] = nullptr;
  } else {
    Encode(json["nodeSelectorTerms"], value.node_selector_terms);
  }
}

void Encode(Json& json, const TopologySpreadConstraint& value) {
  FieldEncoder fields(json);
  VisitFields(fields, value);
  for (const char* policy : {"nodeAffinityPolicy", "nodeTaintsPolicy"}) {
    const auto& set = json.at(policy).get_ref<const std::string&>();
    if (set.empty()) json.erase(policy);
  }
}

// Writes the fields of a struct that aren't empty, 0 or false.
template <class T>
void EncodeFieldsThatAreSet(Json& json, const T& value) {
  json = Json::object();
  FieldEncoder fields(json);
  VisitFields(fields, value);
  const std::set<Json> empty = {"", 0, false};
  for (auto field = json.begin(); field != json.end();) {
    field = empty.contains(*field) ? json.erase(field) : std::next(field);
  }
}

void Encode(Json& json, const ExtenderTlsConfig& value) {
  EncodeFieldsThatAreSet(json, value);
}

void Encode(Json& json, const ExtenderManagedResource& value) {
  EncodeFieldsThatAreSet(json, value);
  json["name"] = value.name;
}

void Encode(Json& json, const ExtenderConfig& value) {
  EncodeFieldsThatAreSet(json, value);
  json["urlPrefix"] = value.url_prefix;
}

Json EncodeArgs(const RawArgs& args) {
  // As upstream, a number without a fraction becomes an integer.
  const std::string yaml = ToYaml(Json::parse(args.json));
  return Json::parse(YamlToJson(yaml).at(0));
}

template <class Args>
Json EncodeArgs(const Args& args) {
  Json json;
  Encode(json, args);
  json["apiVersion"] = kConfigurationApiVersion;
  json["kind"] = ArgsKind(Args::kPlugin);
  return json;
}

void Encode(Json& json, const PluginConfig& value) {
  json["name"] = value.name;
  json["args"] =
      std::visit([](const auto& args) { return EncodeArgs(args); }, value.args);
}

template <class T>
void Encode(Json& json, const std::vector<T>& value) {
  json = Json::array();
  for (const T& item : value) Encode(json.emplace_back(), item);
}

template <class T, class Less>
void Encode(Json& json, const std::map<std::string, T, Less>& value) {
  for (const auto& [key, item] : value) Encode(json[key], item);
}

Json ToJson(const KubeSchedulerConfiguration& configuration) {
  Json json;
  Encode(json, configuration);
  json["apiVersion"] = kConfigurationApiVersion;
  json["kind"] = kConfigurationKind;
  // Upstream leaves out this field if it is false.
  if (!configuration.delay_cache_until_active) {
    json.erase("delayCacheUntilActive");
  }
  return json;
}

}  // namespace

std::string WriteConfiguration(
    const KubeSchedulerConfiguration& configuration) {
  return ToYaml(ToJson(configuration));
}

std::string Configz(KubeSchedulerConfiguration configuration) {
  for (ExtenderConfig& extender : configuration.extenders) {
    if (extender.tls_config) extender.tls_config->key_data = {};
  }
  return Json{{"componentconfig", ToJson(configuration)}}.dump();
}

}  // namespace minisched
