#include "lab/explain/live_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "lab/apiserver/object.h"
#include "lab/explain/errors.h"
#include "minisched/base/clock.h"
#include "minisched/client/errors.h"
#include "minisched/client/transport.h"
#include "minisched/http/http.h"
#include "minisched/live/access.h"

namespace minisched::explain {
namespace {

using apiserver::Get;
using apiserver::GetInt;
using apiserver::GetString;
using apiserver::Json;

// The page's server sends changes every 50 ms. If the stream is quiet for this
// long, all changes have been sent. Generous, for slow machines.
constexpr std::chrono::seconds kQuiet{3};

// Returns the request for the stream of events. The token is a cookie there.
HttpRequest EventsRequest(const std::string& server, const std::string& token) {
  HttpRequest request{.method = "GET", .path = "/live/events"};
  if (!token.empty()) {
    const std::string port = server.substr(server.rfind(':') + 1);
    request.headers["Cookie"] = live::TokenCookie(port) + "=" + token;
  }
  return request;
}

// What the stream has sent of the pod and of activeQ.
class LiveState {
 public:
  explicit LiveState(std::string pod) : pod_name_(std::move(pod)) {}

  // Reads the stream up to the first changes after the start. If the pod does
  // not come, stops at the first changes after `patience`.
  void Read(HttpStream& stream, std::chrono::milliseconds patience) {
    const auto deadline = RealClock().Now() + patience;
    std::string event;
    try {
      while (const auto line = stream.ReadLine()) {
        if (line->starts_with("event: ")) event = line->substr(7);
        if (!line->starts_with("data: ")) continue;
        ReadData(Json::parse(line->substr(6), nullptr,
                             /*allow_exceptions=*/false));
        if (event != "message") continue;
        if (!pod_.is_null() || RealClock().Now() >= deadline) return;
      }
    } catch (const TransportError& error) {
      if (error.kind() != TransportError::Kind::kTimeout) throw;
    }
  }

  std::vector<std::string> Lines() const {
    const std::string who = "the running scheduler " + program_;
    if (pod_.is_null()) return {fmt::format("{} has no {}", who, pod_name_)};
    const Json& pod = pod_["pod"];
    std::string line =
        fmt::format("{}: {} is {} since {}", who, pod_name_,
                    GetString(pod, "place"), GetString(pod_, "time"));
    if (GetString(pod, "place") == "active") line += Position();
    if (const auto attempts = GetInt(pod, "attempts"); attempts > 0) {
      line += fmt::format(", attempts: {}", attempts);
    }
    if (const auto until = GetString(pod, "until"); !until.empty()) {
      const bool may_wake = GetString(pod, "place") == "unschedulable";
      line += ", next attempt at " + until;
      if (may_wake) line += " at the latest";
    }
    std::vector<std::string> lines = {line};
    for (const auto& [member, text] : {std::pair("plugins", "rejected by"),
                                       {"wakes", "events that may wake it"}}) {
      const auto words = pod.value(member, std::vector<std::string>());
      if (words.empty()) continue;
      lines.push_back(fmt::format("  {}: {}", text, fmt::join(words, ", ")));
    }
    return lines;
  }

 private:
  void ReadData(const Json& data) {
    if (data.is_object()) program_ = GetString(data, "program");
    if (!data.is_array()) return;
    for (const Json& item : data) {
      if (GetString(item, "pod", "name") == pod_name_) pod_ = item;
      if (item.contains("queue")) queue_ = item["queue"];
    }
  }

  std::string Position() const {
    const Json& active = Get(queue_, "active");
    const auto place = std::ranges::find(active, pod_["pod"]["uid"]);
    if (place == active.end()) return "";
    return fmt::format(", position {} of {}", place - active.begin() + 1,
                       GetInt(queue_, "length"));
  }

  const std::string pod_name_;
  std::string program_;
  Json pod_;
  Json queue_;
};

}  // namespace

std::vector<std::string> ReadLiveState(const std::string& url,
                                       const std::string& pod,
                                       const std::stop_token& stop,
                                       std::chrono::milliseconds patience) {
  const auto end_of_server = url.find_first_of("/?", url.find("//") + 2);
  const std::string server = url.substr(0, end_of_server);
  if (!server.starts_with("http://127.0.0.1:") &&
      !server.starts_with("http://localhost:")) {
    throw CannotTell(
        "--live: expected the URL that the scheduler has logged, such as "
        "http://127.0.0.1:40123/");
  }
  http::Request parsed;
  if (end_of_server != url.npos) {
    http::ParseTarget(url.substr(end_of_server), parsed);
  }
  LiveState state(pod);
  try {
    Transport transport(RestConfig{.server = server});
    const auto stream = transport.Open(
        EventsRequest(server, parsed.Query("token")), kQuiet, stop);
    if (const int status = stream->head().status; status != 200) {
      throw CannotTell(fmt::format("--live {}: {}: {}", server, status,
                                   stream->head().body));
    }
    state.Read(*stream, patience);
  } catch (const TransportError& error) {
    throw CannotTell(
        fmt::format("--live: {}: is the scheduler running?", error.what()));
  }
  return state.Lines();
}

}  // namespace minisched::explain
