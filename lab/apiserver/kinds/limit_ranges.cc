#include "lab/apiserver/kinds/limit_ranges.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "lab/apiserver/kinds/defaults.h"
#include "lab/apiserver/kinds/strategies.h"
#include "minisched/api/document.h"
#include "minisched/api/pod.h"
#include "minisched/api/pod_requests.h"
#include "minisched/api/quantity.h"

namespace minisched::apiserver {
namespace {

// Calls `visit` with each item of the namespace's LimitRanges.
template <class Visit>
void ForEachItem(const Json& pod, const Store& store, const Visit& visit) {
  for (const auto& [key, range] : store.All("limitranges")) {
    if (key.first != NamespaceOf(pod)) continue;
    for (const Json& item : Get(*range, "spec", "limits")) visit(item);
  }
}

template <class Visit>
void ForEachContainer(Json& pod, const Visit& visit) {
  for (const char* list : {"containers", "initContainers"}) {
    if (Get(pod, "spec", list).empty()) continue;
    for (Json& container : pod["spec"][list]) visit(container);
  }
}

// What a container or a pod requests, and its limits.
struct Usage {
  ResourceList requests;
  ResourceList limits;
};

// Adds what an item of a LimitRange forbids.
class Checker {
 public:
  Checker(const Json& item, std::vector<std::string>& errors)
      : item_(item), type_(GetString(item, "type")), errors_(errors) {}

  void Check(const Usage& usage) {
    for (const auto& [resource, text] : Get(item_, "min").items()) {
      CheckMin(resource, Quantity::Parse(GetString(text)), usage);
    }
    for (const auto& [resource, text] : Get(item_, "max").items()) {
      CheckMax(resource, Quantity::Parse(GetString(text)), usage);
    }
  }

 private:
  void CheckMin(const std::string& resource, const Quantity& min,
                const Usage& usage) {
    const auto request = usage.requests.find(resource);
    const auto limit = usage.limits.find(resource);
    if (request == usage.requests.end()) {
      Add("minimum", resource, min, ".  No request is specified");
    } else if (request->second < min) {
      Add("minimum", resource, min,
          ", but request is " + request->second.ToString());
    } else if (limit != usage.limits.end() && limit->second < min) {
      Add("minimum", resource, min,
          ", but limit is " + limit->second.ToString());
    }
  }

  void CheckMax(const std::string& resource, const Quantity& max,
                const Usage& usage) {
    const auto request = usage.requests.find(resource);
    const auto limit = usage.limits.find(resource);
    if (limit == usage.limits.end()) {
      Add("maximum", resource, max, ".  No limit is specified");
    } else if (max < limit->second) {
      Add("maximum", resource, max,
          ", but limit is " + limit->second.ToString());
    } else if (request != usage.requests.end() && max < request->second) {
      Add("maximum", resource, max,
          ", but request is " + request->second.ToString());
    }
  }

  void Add(const char* what, const std::string& resource, const Quantity& bound,
           const std::string& but) {
    errors_.push_back(fmt::format("{} {} usage per {} is {}{}", what, resource,
                                  type_, bound.ToString(), but));
  }

  const Json& item_;
  const std::string type_;
  std::vector<std::string>& errors_;
};

// Returns the pod's limits: its requests, if these were the limits.
ResourceList PodLimits(Json pod) {
  pod["spec"].erase("overhead");
  const auto limits_only = [](Json& holder) {
    if (!Get(holder, "resources").is_object()) return;
    holder["resources"]["requests"] = Get(holder, "resources", "limits");
  };
  ForEachContainer(pod, limits_only);
  limits_only(pod["spec"]);
  return PodRequests(FromDocument<Pod>(pod));
}

class LimitRanges : public Strategy {
 public:
  void SetDefaults(Json& range) const override {
    if (Get(range, "spec", "limits").empty()) return;
    for (Json& item : range["spec"]["limits"]) {
      if (GetString(item, "type") != "Container") continue;
      SetDefaultsFrom(item, "max", "default");
      SetDefaultsFrom(item, "default", "defaultRequest");
      SetDefaultsFrom(item, "min", "defaultRequest");
    }
  }

 private:
  static void SetDefaultsFrom(Json& item, const char* from, const char* to) {
    const Json amounts = Get(item, from);
    for (const auto& [resource, amount] : amounts.items()) {
      SetDefault(item[to], resource, amount);
    }
  }
};

}  // namespace

void SetLimitRangeDefaults(Json& pod, const Store& store) {
  ForEachItem(pod, store, [&](const Json& item) {
    if (GetString(item, "type") != "Container") return;
    ForEachContainer(pod, [&](Json& container) {
      for (const auto& [from, to] :
           {std::pair("default", "limits"), {"defaultRequest", "requests"}}) {
        for (const auto& [resource, amount] : Get(item, from).items()) {
          SetDefault(container["resources"][to], resource, amount);
        }
      }
    });
  });
}

std::string LimitRangeViolation(const Json& pod, const Store& store) {
  std::vector<std::string> errors;
  const Pod typed = FromDocument<Pod>(pod);
  ForEachItem(pod, store, [&](const Json& item) {
    Checker checker(item, errors);
    if (GetString(item, "type") == "Container") {
      for (const auto* list :
           {&typed.spec.containers, &typed.spec.init_containers}) {
        for (const Container& container : *list) {
          checker.Check(
              {container.resources.requests, container.resources.limits});
        }
      }
    } else if (GetString(item, "type") == "Pod") {
      Pod without_overhead = typed;
      without_overhead.spec.overhead.clear();
      checker.Check({PodRequests(without_overhead), PodLimits(pod)});
    }
  });
  if (errors.size() <= 1) return errors.empty() ? "" : errors[0];
  return fmt::format("[{}]", fmt::join(errors, ", "));
}

const Strategy& LimitRangeStrategy() { return Only<LimitRanges>(); }

}  // namespace minisched::apiserver
