#include "minisched/apiserver/faults/control.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "minisched/api/parse_error.h"
#include "minisched/apiserver/body.h"
#include "minisched/apiserver/errors.h"

namespace minisched::apiserver {
namespace {

constexpr double kLongestAway = 3600;

const std::map<std::string, std::set<std::string>> kMethods = {
    {"/minisched/faults", {"GET", "PUT", "DELETE"}},
    {"/minisched/requests", {"GET"}},
    {"/minisched/compact", {"POST"}},
    {"/minisched/away", {"POST"}}};

Reply Success(int status = 200) {
  return JsonReply({{"kind", "Status"},
                    {"apiVersion", "v1"},
                    {"metadata", Json::object()},
                    {"status", "Success"},
                    {"code", status}},
                   status);
}

}  // namespace

Control::Control(Faults& faults, Store& store, const Metrics& metrics,
                 GoAway go_away)
    : faults_(faults),
      store_(store),
      metrics_(metrics),
      go_away_(std::move(go_away)) {}

bool Control::Owns(const Request& request) {
  return request.path.starts_with("/minisched/");
}

Reply Control::Handle(const Request& request) {
  const auto methods = kMethods.find(request.path);
  if (methods == kMethods.end()) throw PathNotFound();
  if (!methods->second.contains(request.method)) throw MethodNotAllowed();
  // A web page can send a POST without a body to whom it likes, but not hide
  // that it does.
  if (request.method == "POST" && !request.Header("origin").empty()) {
    throw StatusError(403, "Forbidden", "web pages may not do that");
  }
  if (request.path == "/minisched/faults") return HandleFaults(request);
  if (request.path == "/minisched/away") return HandleAway(request);
  if (request.path == "/minisched/requests") {
    return JsonReply({{"items", metrics_.Clients()}});
  }
  store_.Compact();
  return Success();
}

Reply Control::HandleFaults(const Request& request) {
  if (request.method == "DELETE") faults_ = Faults();
  if (request.method == "PUT") {
    try {
      faults_ = Faults(ParseBody(request));
    } catch (const ParseError& error) {
      throw BadRequest(error.what());
    }
  }
  return JsonReply(faults_.ToJson());
}

Reply Control::HandleAway(const Request& request) {
  const Json seconds =
      request.body.empty()
          ? Json::parse(request.Query("seconds"), nullptr, false)
          : Get(ParseBody(request), "seconds");
  if (!seconds.is_number() || seconds <= 0 || seconds > kLongestAway) {
    throw BadRequest(
        "seconds: must be a number above 0 and up to 3600, in the query "
        "(?seconds=3) or in the body ({\"seconds\": 3})");
  }
  const auto duration = std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::duration<double>(seconds.get<double>()));
  Reply reply = Success(202);
  reply.on_sent = [this, duration] { go_away_(duration); };
  return reply;
}

}  // namespace minisched::apiserver
