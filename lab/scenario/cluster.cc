#include "lab/scenario/cluster.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "lab/scenario/errors.h"
#include "lab/scenario/expectation_reader.h"

namespace minisched::scenario {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kRetryFor{30};
constexpr milliseconds kRetryEvery{50};

// The default userAgent of faults: every client except players.
constexpr char kNotPlayers[] = "!minisched-scenario/*";

RestConfig ForPlayer(RestConfig config) {
  config.qps = 0;
  return config;
}

std::string Text(const Json& object, const char* pointer) {
  const Json::json_pointer place(pointer);
  return object.contains(place) && object[place].is_string()
             ? object[place].get<std::string>()
             : "";
}

std::string Uid(const std::string& object) {
  return Text(Json::parse(object), "/metadata/uid");
}

void RenameScheduler(Json& pod_spec, const std::string& scheduler_name) {
  if (pod_spec.is_object() &&
      pod_spec.value("schedulerName", "") == "minisched") {
    pod_spec["schedulerName"] = scheduler_name;
  }
}

// Returns the manifest as JSON to send, with the scheduler's name replaced.
std::string Prepare(const Manifest& manifest,
                    const std::string& scheduler_name) {
  Json object = Json::parse(manifest.json);
  const Json::json_pointer template_spec("/spec/template/spec");
  if (manifest.kind == "Pod") RenameScheduler(object["spec"], scheduler_name);
  if (object.contains(template_spec)) {
    RenameScheduler(object[template_spec], scheduler_name);
  }
  return object.dump();
}

}  // namespace

Cluster::Cluster(const RestConfig& config, const std::stop_token& stop)
    : client_(ForPlayer(config)), version_(client_.ServerVersion(stop)) {}

bool Cluster::IsEmbedded() const {
  return version_.find("+minisched") != std::string::npos;
}

bool Cluster::IsTestCluster() const {
  const std::string& source = client_.config().source;
  return IsEmbedded() ||
         source.find("\"minisched-real\"") != std::string::npos ||
         source.find("\"kind-minisched\"") != std::string::npos;
}

std::string Cluster::Send(const Client::Request& request,
                          const std::stop_token& stop, bool* maybe_done) {
  Clock& clock = RealClock();
  const auto deadline = clock.Now() + kRetryFor;
  const std::stop_token never;
  while (true) {
    try {
      return client_.Send(request, request.method == "GET" ? stop : never);
    } catch (const TransportError& error) {
      using Kind = TransportError::Kind;
      const bool lost = error.kind() == Kind::kLost;
      if ((!lost && error.kind() != Kind::kConnect) || clock.Now() > deadline) {
        throw;
      }
      if (lost && maybe_done != nullptr) *maybe_done = true;
    }
    if (!clock.SleepFor(kRetryEvery, stop)) throw Cancelled();
  }
}

std::string Cluster::GetText(const std::string& path, IfAway if_away,
                             const std::stop_token& stop) {
  const Client::Request request{.method = "GET", .path = path};
  return if_away == IfAway::kWait ? Send(request, stop)
                                  : client_.Send(request, stop);
}

Cluster::Kind Cluster::FindKind(const std::string& api_version,
                                const std::string& kind,
                                const std::stop_token& stop) {
  const std::string key = api_version + " " + kind;
  {
    MutexLock lock(mu_);
    if (const auto known = kinds_.find(key); known != kinds_.end()) {
      return known->second;
    }
  }
  const bool core = api_version.find('/') == std::string::npos;
  const std::string base = (core ? "/api/" : "/apis/") + api_version;
  try {
    const Json resources =
        Json::parse(Send({.method = "GET", .path = base}, stop));
    for (const Json& resource : resources.at("resources")) {
      const std::string plural = resource.at("name");
      if (resource.at("kind") != kind ||
          plural.find('/') != std::string::npos) {
        continue;
      }
      const Kind found{base, plural, resource.at("namespaced")};
      MutexLock lock(mu_);
      return kinds_[key] = found;
    }
  } catch (const ApiError& error) {
    if (error.code() != 404) throw;
  }
  throw CannotPlay("the server has no kind " + kind + " in " + api_version);
}

std::string Cluster::Path(const ObjectName& object,
                          const std::string& namespace_name,
                          const std::stop_token& stop) {
  const Kind kind = FindKind(object.api_version, object.kind, stop);
  std::string path = kind.base;
  if (kind.namespaced) path += "/namespaces/" + namespace_name;
  path += "/" + kind.plural;
  return object.name.empty() ? path : path + "/" + object.name;
}

std::string Cluster::Create(const Manifest& object,
                            const std::string& namespace_name,
                            const std::string& scheduler_name,
                            const std::stop_token& stop) {
  const Client::Request request{
      .method = "POST",
      .path = Path({object.api_version, object.kind, ""}, namespace_name, stop),
      .body = Prepare(object, scheduler_name)};
  const auto deadline = RealClock().Now() + kRetryFor;
  bool maybe_done = false;
  while (true) {
    try {
      return Uid(Send(request, stop, &maybe_done));
    } catch (const ApiError& error) {
      if (maybe_done && error.reason() == "AlreadyExists") return "";
      // The server rejects pods in a new namespace until the namespace has its
      // service account.
      if (error.code() != 403 || object.kind != "Pod" ||
          RealClock().Now() > deadline ||
          error.status().message.find("service account") == std::string::npos) {
        throw;
      }
    }
    if (!RealClock().SleepFor(kRetryEvery, stop)) throw Cancelled();
  }
}

std::string Cluster::Apply(const Manifest& object,
                           const std::string& namespace_name,
                           const std::string& scheduler_name,
                           const std::stop_token& stop) {
  const ObjectName name{object.api_version, object.kind, object.name};
  if (!Get(name, namespace_name, stop)) {
    return Create(object, namespace_name, scheduler_name, stop);
  }
  return Patch({.object = name,
                .type = "merge",
                .patch = Prepare(object, scheduler_name)},
               namespace_name, stop);
}

std::string Cluster::Patch(const scenario::Patch& patch,
                           const std::string& namespace_name,
                           const std::stop_token& stop) {
  static const std::map<std::string, std::string> kTypes = {
      {"merge", "application/merge-patch+json"},
      {"strategic", "application/strategic-merge-patch+json"},
      {"json", "application/json-patch+json"}};
  std::string path = Path(patch.object, namespace_name, stop);
  if (!patch.subresource.empty()) path += "/" + patch.subresource;
  return Uid(Send({.method = "PATCH",
                   .path = path,
                   .content_type = kTypes.at(patch.type),
                   .body = patch.patch},
                  stop));
}

std::vector<std::string> Cluster::Delete(const scenario::Delete& deletion,
                                         const std::string& namespace_name,
                                         const std::stop_token& stop) {
  ObjectName object = deletion.objects;
  const std::string glob = std::exchange(object.name, "");
  const std::string collection = Path(object, namespace_name, stop);
  Client::Request listing{.method = "GET", .path = collection};
  // There may be many other objects.
  if (glob.find_first_of("*?[\\") == glob.npos) {
    listing.query = {{"fieldSelector", "metadata.name=" + glob}};
  }
  const Json list = Json::parse(Send(listing, stop));
  std::vector<std::string> deleted;
  for (const Json& item : list.at("items")) {
    const std::string name = Text(item, "/metadata/name");
    if (!MatchesGlob(glob, name)) continue;
    Client::Request request{.method = "DELETE",
                            .path = collection + "/" + name};
    if (deletion.grace_seconds) {
      request.body =
          Json({{"gracePeriodSeconds", *deletion.grace_seconds}}).dump();
    }
    try {
      Send(request, stop);
    } catch (const ApiError& error) {
      if (error.code() != 404) throw;  // 404: already gone
    }
    deleted.push_back(name);
  }
  return deleted;
}

void Cluster::RemoveFinalizersOfPods(const std::string& namespace_name,
                                     const std::stop_token& stop) {
  const std::string pods = Path({.kind = "Pod"}, namespace_name, stop);
  const Json list = Json::parse(Send({.method = "GET", .path = pods}, stop));
  for (const Json& pod : list.at("items")) {
    if (!pod.at("metadata").contains("finalizers")) continue;
    try {
      Send({.method = "PATCH",
            .path = pods + "/" + Text(pod, "/metadata/name"),
            .content_type = "application/merge-patch+json",
            .body = R"({"metadata":{"finalizers":null}})"},
           stop);
    } catch (const ApiError& error) {
      if (error.code() != 404) throw;
    }
  }
}

void Cluster::DeleteOne(const ObjectName& object,
                        const std::string& namespace_name,
                        const std::stop_token& stop) {
  try {
    Send({.method = "DELETE", .path = Path(object, namespace_name, stop)},
         stop);
  } catch (const ApiError& error) {
    if (error.code() != 404) throw;
  }
}

std::optional<std::string> Cluster::Get(const ObjectName& object,
                                        const std::string& namespace_name,
                                        const std::stop_token& stop) {
  try {
    return Send({.method = "GET", .path = Path(object, namespace_name, stop)},
                stop);
  } catch (const ApiError& error) {
    if (error.code() != 404) throw;
    return std::nullopt;
  }
}

std::vector<PodEvent> Cluster::Events(const std::string& namespace_name,
                                      IfAway if_away,
                                      const std::stop_token& stop) {
  const Json list = Json::parse(
      GetText("/apis/events.k8s.io/v1/namespaces/" + namespace_name + "/events",
              if_away, stop));
  std::vector<PodEvent> events;
  for (const Json& item : list.at("items")) {
    if (Text(item, "/regarding/kind") != "Pod") continue;
    PodEvent event{.pod = Text(item, "/regarding/name"),
                   .type = Text(item, "/type"),
                   .reason = Text(item, "/reason"),
                   .message = Text(item, "/note")};
    const Json::json_pointer series("/series/count");
    event.count = item.contains(series)
                      ? item[series].get<int>()
                      : std::max(1, item.value("deprecatedCount", 1));
    events.push_back(std::move(event));
  }
  return events;
}

std::vector<RequestCount> Cluster::Requests(IfAway if_away,
                                            const std::stop_token& stop) {
  const Json list = Json::parse(GetText("/minisched/requests", if_away, stop));
  std::vector<RequestCount> counts;
  for (const Json& item : list.at("items")) {
    const std::string agent = item.at("userAgent");
    if (agent.starts_with("minisched-scenario/")) continue;
    std::string resource = item.at("resource");
    const std::string subresource = item.at("subresource");
    if (!subresource.empty()) resource += "/" + subresource;
    counts.push_back({item.at("verb"), resource, item.at("count")});
  }
  return counts;
}

void Cluster::SetFaults(const std::string& document,
                        const std::stop_token& stop) {
  Json faults = Json::parse(document);
  for (Json& fault : faults.at("faults")) {
    if (fault.is_object() && !fault["match"].contains("userAgent")) {
      fault["match"]["userAgent"] = kNotPlayers;
    }
  }
  Send({.method = "PUT", .path = "/minisched/faults", .body = faults.dump()},
       stop);
}

void Cluster::Compact(const std::stop_token& stop) {
  Send({.method = "POST", .path = "/minisched/compact"}, stop);
}

void Cluster::GoAway(std::chrono::nanoseconds duration,
                     const std::stop_token& stop) {
  // If the response is lost, Send() repeats the request and the server goes
  // away a second time, which does no harm.
  const double length = std::chrono::duration<double>(duration).count();
  Send({.method = "POST",
        .path = "/minisched/away",
        .query = {{"seconds", std::to_string(length)}}},
       stop);
}

}  // namespace minisched::scenario
