#include "minisched/config/read.h"

#include <algorithm>
#include <utility>

#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"
#include "minisched/client/pem.h"
#include "minisched/config/fields.h"
#include "minisched/config/strict_decoder.h"

namespace minisched {

// Decode() functions of types whose fields don't suffice.
void Decode(const DecodedValue& value, Base64& out);
void Decode(const DecodedValue& value, PluginConfig& out);
void Decode(const DecodedValue& value,
            std::vector<KubeSchedulerProfile>& profiles);

namespace {

// Adds an error if the object is of another kind. Unlike a file, arguments may
// leave out kind and apiVersion.
void CheckArgsType(FieldDecoder& fields, const DecodedValue& value,
                   const std::string& expected_kind) {
  std::string kind;
  std::string api_version;
  fields("kind", kind);
  fields("apiVersion", api_version);
  if (!kind.empty() && kind != expected_kind) {
    value.Member("kind", value.json).Fail("must be " + expected_kind);
  }
  if (!api_version.empty() && api_version != kConfigurationApiVersion) {
    value.Member("apiVersion", value.json)
        .Fail("must be " + std::string(kConfigurationApiVersion));
  }
}

void DecodeArgs(const DecodedValue& value, RawArgs& args) {
  args.json = value.json.dump();
}

template <class Args>
void DecodeArgs(const DecodedValue& value, Args& args) {
  FieldDecoder fields(value);
  if (!value.json.is_object()) return;
  CheckArgsType(fields, value, ArgsKind(Args::kPlugin));
  VisitFields(fields, args);
  fields.CheckUnknown();
}

// Throws ParseError unless the document is a KubeSchedulerConfiguration.
void CheckType(const nlohmann::json& document) {
  const std::pair<const char*, std::string_view> expected[] = {
      {"apiVersion", kConfigurationApiVersion}, {"kind", kConfigurationKind}};
  if (!document.is_object()) throw ParseError("an object is expected");
  for (const auto& [key, value] : expected) {
    const std::string found =
        document.contains(key) ? document[key].dump() : "nothing";
    if (found == '"' + std::string(value) + '"') continue;
    throw ParseError(std::string(key) + ": " + std::string(value) +
                     " is expected, not " + found);
  }
}

YamlSource ReadDocument(std::string_view text) {
  // As upstream, doesn't accept YAML that begins like JSON.
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start != text.npos && text[start] == '{') ParseJson(text);
  std::vector<YamlSource> documents = ReadYaml(text);
  // As upstream, doesn't skip an empty first document.
  if (documents.empty() || documents.front().json == "null") {
    throw ParseError("the first document is empty");
  }
  const auto count = documents.size() -
                     std::ranges::count(documents, "null", &YamlSource::json);
  if (count > 1) {
    throw ParseError("one document is expected, not " + std::to_string(count));
  }
  return std::move(documents.front());
}

void DecodeConfiguration(const DecodedValue& value,
                         KubeSchedulerConfiguration& out) {
  FieldDecoder fields(value);
  fields.Find("apiVersion");
  fields.Find("kind");
  VisitFields(fields, out);
  const nlohmann::json* contention = fields.Find("enableContentionProfiling");
  if (contention == nullptr || contention->is_null()) {
    out.enable_contention_profiling = out.enable_profiling;
  }
  fields.CheckUnknown();
}

}  // namespace

void Decode(const DecodedValue& value, Base64& out) {
  std::string text;
  Decode(value, text);
  std::erase_if(text, [](char c) { return c == '\r' || c == '\n'; });
  if (!DecodeBase64(text) || text.find(' ') != text.npos) {
    return value.Fail("must be base64");
  }
  out.text = std::move(text);
}

void Decode(const DecodedValue& value, PluginConfig& out) {
  FieldDecoder fields(value);
  fields("name", out.name);
  out.args = DefaultPluginArgs(out.name);
  const nlohmann::json* args = fields.Find("args");
  if (args != nullptr && !args->is_null()) {
    const DecodedValue place = value.Member("args", *args);
    std::visit([&](auto& known) { DecodeArgs(place, known); }, out.args);
  }
  fields.CheckUnknown();
}

void Decode(const DecodedValue& value,
            std::vector<KubeSchedulerProfile>& profiles) {
  if (!value.json.is_array()) return value.FailType("a list");
  for (std::size_t i = 0; i < value.json.size(); ++i) {
    KubeSchedulerProfile& profile = profiles.emplace_back();
    // Only a single profile may leave out its name.
    if (value.json.size() == 1) profile.scheduler_name = "default-scheduler";
    if (!value.json[i].is_null()) Decode(value.Element(i), profile);
  }
}

ConfigurationSource ReadConfiguration(std::string_view text) {
  YamlSource document = ReadDocument(text);
  const nlohmann::json json = ParseJson(document.json);
  CheckType(json);
  ConfigurationSource source{.lines = std::move(document.lines)};
  for (std::string& path : document.repeated_keys) {
    source.errors.push_back({std::move(path), "the field is repeated"});
  }
  DecodeConfiguration({json, "", source.errors}, source.configuration);
  if (source.configuration.profiles.empty()) {
    source.configuration.profiles.push_back(
        {.scheduler_name = "default-scheduler"});
  }
  return source;
}

int FindLine(const std::map<std::string, int, std::less<>>& lines,
             std::string_view path) {
  while (!path.empty()) {
    const auto line = lines.find(path);
    if (line != lines.end()) return line->second;
    const std::size_t end = path.find_last_of(".[");
    path = path.substr(0, end == path.npos ? 0 : end);
  }
  return 0;
}

}  // namespace minisched
