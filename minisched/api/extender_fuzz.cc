// Fuzzes the responses of extenders. The first line of the input is the call:
// "Filter", "Prioritize", "Preempt" or "Bind". The rest is the JSON.

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "minisched/api/extender.h"
#include "minisched/api/json_mutator.h"
#include "minisched/api/parse_error.h"
#include "minisched/base/fuzzing.h"

namespace minisched {
namespace {

using Json = nlohmann::json;

// Writes results as extenders do, with the names of Go's fields or with these
// in lower case.
class Writer {
 public:
  explicit Writer(bool lower_case) : lower_case_(lower_case) {}

  Json Write(const ExtenderFilterResult& result) const {
    Json json;
    if (result.nodes) {
      Json& items = json[Key("Nodes")][Key("items")] = Json::array();
      for (const std::string& name : *result.nodes) {
        items.emplace_back()[Key("metadata")][Key("name")] = name;
      }
    }
    if (result.node_names) json[Key("NodeNames")] = *result.node_names;
    json[Key("FailedNodes")] = result.failed_nodes;
    json[Key("FailedAndUnresolvableNodes")] =
        result.failed_and_unresolvable_nodes;
    json[Key("Error")] = result.error;
    return json;
  }

  Json Write(const HostPriorityList& result) const {
    Json json = Json::array();
    for (const HostPriority& priority : result) {
      json.push_back(
          {{Key("Host"), priority.host}, {Key("Score"), priority.score}});
    }
    return json;
  }

  Json Write(const ExtenderPreemptionResult& result) const {
    Json json;
    Json& nodes = json[Key("NodeNameToMetaVictims")] = Json::object();
    for (const auto& [node, victims] : result.node_name_to_meta_victims) {
      nodes[node][Key("NumPDBViolations")] = victims.num_pdb_violations;
      for (const MetaPod& pod : victims.pods) {
        nodes[node][Key("Pods")].push_back({{Key("UID"), pod.uid}});
      }
    }
    return json;
  }

  Json Write(const ExtenderBindingResult& result) const {
    return {{Key("Error"), result.error}};
  }

 private:
  std::string Key(std::string name) const {
    if (lower_case_) {
      std::ranges::transform(name, name.begin(), [](unsigned char c) {
        return static_cast<char>(std::tolower(c));
      });
    }
    return name;
  }

  bool lower_case_;
};

template <class T>
void ReadResponse(std::string_view json) {
  const T result = FromJson<T>(json);
  for (const bool lower_case : {false, true}) {
    const std::string text = Writer(lower_case).Write(result).dump();
    try {
      Require(FromJson<T>(text) == result, "a result is read again", text);
    } catch (const ParseError& error) {
      Require(false, "a result can be read again", text + ": " + error.what());
    }
  }
}

}  // namespace
}  // namespace minisched

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  static const std::map<std::string_view, void (*)(std::string_view)> kReaders =
      {{"Filter", ReadResponse<ExtenderFilterResult>},
       {"Prioritize", ReadResponse<HostPriorityList>},
       {"Preempt", ReadResponse<ExtenderPreemptionResult>},
       {"Bind", ReadResponse<ExtenderBindingResult>}};
  std::string_view text = InputText(data, size);
  const auto reader = kReaders.find(TakeLine(text));
  if (reader == kReaders.end()) return -1;  // not for the corpus
  try {
    reader->second(text);
  } catch (const ParseError& error) {
    Require(*error.what() != '\0', "an error has a text", std::string(text));
  }
  return 0;
}
