#include "minisched/api/extender.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "minisched/api/codec.h"

namespace minisched {
namespace {

// The only parts of a NodeList that ExtenderFilterResult needs.
struct ListedMetadata {
  std::string name;
};
struct ListedNode {
  ListedMetadata metadata;
};
struct ListedNodes {
  std::vector<ListedNode> items;
};

bool EqualFold(std::string_view a, std::string_view b) {
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// Reads values as Go's encoding/json does. It is a class so that each overload
// finds the others.
class GoReader {
 public:
  // Reads a value. Leaves `out` unchanged if the value is null.
  template <class T>
  static void Read(const JsonPlace& place, T& out) {
    if (!place.value().is_null()) ReadValue(place, out);
  }

 private:
  // Reads the fields of an object.
  class Fields {
   public:
    explicit Fields(const JsonPlace& place) : place_(place) {
      if (!place.value().is_object()) place.FailType("an object");
    }

    // Reads the member of that name, ignoring the case of its letters. Prefers
    // the exact name. The path of an error has the name as the object has it.
    template <class T>
    void operator()(std::string_view name, T& field) const {
      if (const nlohmann::json* member = place_.Find(name)) {
        return ReadValue(JsonPlace(*member, place_, name), field);
      }
      for (const auto& [key, member] : place_.value().items()) {
        if (EqualFold(key, name) && !member.is_null()) {
          return ReadValue(JsonPlace(member, place_, key), field);
        }
      }
    }

   private:
    const JsonPlace& place_;
  };

  static void ReadValue(const JsonPlace& place, std::string& out) {
    minisched::Read(place, out);
  }

  static void ReadValue(const JsonPlace& place, std::int64_t& out) {
    minisched::Read(place, out);
  }

  template <class T>
  static void ReadValue(const JsonPlace& place, std::optional<T>& out) {
    ReadValue(place, out.emplace());
  }

  template <class T>
  static void ReadValue(const JsonPlace& place, std::vector<T>& out) {
    if (!place.value().is_array()) place.FailType("a list");
    out.reserve(place.value().size());
    for (std::size_t i = 0; i < place.value().size(); ++i) {
      Read(JsonPlace(place.value()[i], place, i), out.emplace_back());
    }
  }

  template <class T>
  static void ReadValue(const JsonPlace& place, std::map<std::string, T>& out) {
    if (!place.value().is_object()) place.FailType("an object");
    for (const auto& [key, member] : place.value().items()) {
      Read(JsonPlace(member, place, key), out[key]);
    }
  }

  static void ReadValue(const JsonPlace& place, ListedMetadata& metadata) {
    const Fields read(place);
    read("name", metadata.name);
  }

  static void ReadValue(const JsonPlace& place, ListedNode& node) {
    const Fields read(place);
    read("metadata", node.metadata);
  }

  static void ReadValue(const JsonPlace& place, ListedNodes& nodes) {
    const Fields read(place);
    read("items", nodes.items);
  }

  static void ReadValue(const JsonPlace& place, ExtenderFilterResult& result) {
    std::optional<ListedNodes> nodes;
    const Fields read(place);
    read("Nodes", nodes);
    read("NodeNames", result.node_names);
    read("FailedNodes", result.failed_nodes);
    read("FailedAndUnresolvableNodes", result.failed_and_unresolvable_nodes);
    read("Error", result.error);
    if (!nodes) return;
    std::vector<std::string>& names = result.nodes.emplace();
    names.reserve(nodes->items.size());
    for (ListedNode& node : nodes->items) {
      names.push_back(std::move(node.metadata.name));
    }
  }

  static void ReadValue(const JsonPlace& place, HostPriority& priority) {
    const Fields read(place);
    read("Host", priority.host);
    read("Score", priority.score);
  }

  static void ReadValue(const JsonPlace& place, MetaPod& pod) {
    const Fields read(place);
    read("UID", pod.uid);
  }

  static void ReadValue(const JsonPlace& place, MetaVictims& victims) {
    const Fields read(place);
    read("Pods", victims.pods);
    read("NumPDBViolations", victims.num_pdb_violations);
  }

  static void ReadValue(const JsonPlace& place,
                        ExtenderPreemptionResult& result) {
    const Fields read(place);
    read("NodeNameToMetaVictims", result.node_name_to_meta_victims);
  }

  static void ReadValue(const JsonPlace& place, ExtenderBindingResult& result) {
    const Fields read(place);
    read("Error", result.error);
  }
};

// A filter for ParseJson(), which keeps only metadata.name of the nodes in an
// ExtenderFilterResult. The response may have thousands of whole nodes.
bool IsNeeded(int depth, nlohmann::json::parse_event_t event,
              const nlohmann::json& parsed) {
  constexpr int kNodeDepth = 4;  // {"Nodes": {"items": [{
  if (event != nlohmann::json::parse_event_t::key || depth < kNodeDepth ||
      depth > kNodeDepth + 1) {
    return true;
  }
  const auto& key = parsed.get_ref<const std::string&>();
  return EqualFold(key, depth == kNodeDepth ? "metadata" : "name");
}

template <class T>
T ReadResult(const nlohmann::json& document) {
  T result;
  GoReader::Read(JsonPlace(document), result);
  return result;
}

}  // namespace

template <>
ExtenderFilterResult FromJson<ExtenderFilterResult>(std::string_view text,
                                                    bool /*keep_json*/) {
  return ReadResult<ExtenderFilterResult>(ParseJson(text, IsNeeded));
}

template <>
HostPriorityList FromJson<HostPriorityList>(std::string_view text,
                                            bool /*keep_json*/) {
  return ReadResult<HostPriorityList>(ParseJson(text));
}

template <>
ExtenderPreemptionResult FromJson<ExtenderPreemptionResult>(
    std::string_view text, bool /*keep_json*/) {
  return ReadResult<ExtenderPreemptionResult>(ParseJson(text));
}

template <>
ExtenderBindingResult FromJson<ExtenderBindingResult>(std::string_view text,
                                                      bool /*keep_json*/) {
  return ReadResult<ExtenderBindingResult>(ParseJson(text));
}

}  // namespace minisched
