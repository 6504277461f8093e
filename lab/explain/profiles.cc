#include "lab/explain/profiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "lab/apiserver/object.h"
#include "lab/explain/errors.h"
#include "lab/scenario/scheduler_config.h"

namespace minisched::explain {
namespace {

using apiserver::Get;
using apiserver::GetString;
using apiserver::Json;

// Returns the profiles with their names. Without any, there is a profile with
// the name that the only profile has if it is not given.
Json NamedProfiles(const Json& config) {
  Json profiles = Get(config, "profiles");
  if (!profiles.is_array() || profiles.empty()) {
    profiles = Json::array({Json::object()});
  }
  if (profiles.size() == 1 && profiles[0].is_object() &&
      GetString(profiles[0], "schedulerName").empty()) {
    profiles[0]["schedulerName"] = "default-scheduler";
  }
  return profiles;
}

}  // namespace

std::string SelectProfile(const std::string& text, const std::string& source,
                          const std::string& scheduler_name,
                          std::vector<std::string>& warnings) {
  Json config = scenario::ReadSchedulerConfig(text, source);
  const Json profiles = NamedProfiles(config);
  std::vector<std::string> names;
  for (const Json& profile : profiles) {
    names.push_back(GetString(profile, "schedulerName"));
  }
  const auto found = std::ranges::find(names, scheduler_name);
  if (found == names.end()) {
    throw CannotTell(fmt::format(
        "{} has no profile for the pod's schedulerName \"{}\"; its profiles "
        "are {}",
        source, scheduler_name, fmt::join(names, ", ")));
  }
  config["profiles"] = Json::array({profiles[found - names.begin()]});
  if (!Get(config, "extenders").empty()) {
    warnings.push_back("the extenders of " + source +
                       " are left out: they may reject or prefer nodes");
  }
  config.erase("extenders");
  Json& connection = config["clientConnection"];
  if (connection.is_null() || connection.is_object()) connection["qps"] = -1;
  return config.dump();
}

}  // namespace minisched::explain
