#include "lab/apiserver/faults/control.h"

#include <string>

#include "lab/apiserver/errors.h"
#include "minisched/api/parse_error.h"

namespace minisched::apiserver {
namespace {

constexpr double kLongestAway = 3600;  // seconds

Reply Success(int status) {
  return JsonReply(
      {{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Success"}},
      status);
}

std::chrono::milliseconds TimeAway(const Request& request) {
  const Json seconds = Json::parse(request.Query("seconds"), nullptr, false);
  if (!seconds.is_number() || seconds <= 0 || seconds > kLongestAway) {
    throw BadRequest(
        "seconds: must be a number above 0 and up to 3600, in the query "
        "(?seconds=3)");
  }
  return std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::duration<double>(seconds.get<double>()));
}

}  // namespace

Reply Control::Handle(const Request& request) {
  // A web page can send a POST without a body to any server, but the browser
  // adds the Origin. PUT and DELETE need a CORS preflight. GET changes nothing.
  if (request.method == "POST" && !request.Header("origin").empty()) {
    throw StatusError(
        403, "Forbidden",
        "POST requests from web pages (with an Origin) are refused");
  }
  const std::string what = request.method + " " + request.path;
  if (what == "GET /minisched/requests") {
    return JsonReply({{"items", metrics.Clients()}});
  }
  if (what == "POST /minisched/compact") {
    store.Compact();
    return Success(200);
  }
  if (what == "POST /minisched/away") {
    Reply reply = Success(202);
    reply.on_sent = [this, duration = TimeAway(request)] { go_away(duration); };
    return reply;
  }
  if (request.path != "/minisched/faults") throw PathNotFound();
  if (request.method == "PUT") {
    try {
      faults = Faults::Parse(request.body);
    } catch (const ParseError& error) {
      throw BadRequest(error.what());
    }
  } else if (request.method == "DELETE") {
    faults = Faults();
  } else if (request.method != "GET") {
    throw MethodNotAllowed();
  }
  return JsonReply(faults.ToJson());
}

}  // namespace minisched::apiserver
