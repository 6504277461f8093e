#include "minisched/app/debug_paths.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "minisched/api/parse_error.h"
#include "minisched/base/clock.h"
#include "minisched/http/local.h"

namespace minisched {
namespace {

using http::Reply;
using http::Request;
using Json = nlohmann::json;

constexpr std::string_view kAttempts = "/debug/trace/attempts/";
// About the most text of one write, which limits the memory of a stream.
constexpr std::size_t kMaxText = 256 << 10;
constexpr std::chrono::seconds kKeepAlive{15};

Reply JsonReply(const Json& json, int status = 200) {
  return {.status = status,
          .body = json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true,
                            Json::error_handler_t::replace)};
}

Reply ErrorReply(int status, const std::string& message) {
  return JsonReply({{"error", message}}, status);
}

// Returns the refusal of a request that may come from another machine or from
// another web page.
std::optional<Reply> Refusal(const Request& request, std::string_view path) {
  if (!request.is_local || !http::HasLocalHost(request)) {
    return ErrorReply(403,
                      fmt::format("only programs on the scheduler's machine "
                                  "may use {}: use kubectl port-forward or "
                                  "ssh -L, and the host 127.0.0.1",
                                  path));
  }
  if (http::IsForeign(request)) {
    return ErrorReply(403, fmt::format("no other web page may use {}", path));
  }
  return std::nullopt;
}

// Returns the value of a query parameter; `choices` begins with the default.
template <class T>
T Choose(const Request& request, const std::string& name,
         const std::vector<std::pair<std::string, T>>& choices) {
  const std::string value = request.Query(name);
  if (!request.query.contains(name)) return choices.front().second;
  std::string names;
  for (const auto& [choice, result] : choices) {
    if (choice == value) return result;
    names += (names.empty() ? "" : ", ") + choice;
  }
  throw ParseError(fmt::format("{}={} is unknown: use one of {}", name,
                               Quoted(value), names));
}

}  // namespace

// The records of a trace as lines of JSON. An empty line follows the earlier
// records. Further ones, at most every 15 s, show that the connection works.
class DebugPaths::RecordStream final : public http::Stream {
 public:
  RecordStream(DebugPaths& paths, AttemptDetail detail, JsonDetail nodes,
               TraceStart start)
      : paths_(paths), nodes_(nodes), reader_(paths.trace_, detail, start) {
    period = kPeriod;
    ++paths_.streams_;
  }
  ~RecordStream() override { --paths_.streams_; }

  RecordStream(const RecordStream&) = delete;
  RecordStream& operator=(const RecordStream&) = delete;

  bool Read(std::string& out) override {
    const auto now = RealClock().Now();
    if (lines_.empty() && now >= next_poll_) {
      paths_.trace_.ReportQueue();
      lines_ = RecordLines(reader_.Poll(), nodes_);
      next_poll_ = now + kPeriod;
    }
    while (!lines_.empty() && out.size() < kMaxText) {
      out += lines_.Next();
      out += '\n';
    }
    if (out.empty() && now >= next_empty_line_) {
      out = "\n";
      next_empty_line_ = now + kKeepAlive;
    }
    return true;
  }

 private:
  DebugPaths& paths_;
  const JsonDetail nodes_;
  TraceReader reader_;
  RecordLines lines_;
  Clock::TimePoint next_poll_{};
  Clock::TimePoint next_empty_line_{};
};

DebugPaths::DebugPaths(Trace& trace, PaceSetter& pace, Options options)
    : trace_(trace),
      pace_(pace),
      options_(std::move(options)),
      run_(fmt::format("{:x}", std::random_device()())) {
  trace_.KeepFailures();
}

std::optional<Reply> DebugPaths::Answer(const Request& request) {
  if (request.path == "/configz" && !options_.configz.empty()) {
    if (auto refusal = Refusal(request, "/configz")) return refusal;
    return Reply{.body = options_.configz};
  }
  if (request.path != "/debug" && !request.path.starts_with("/debug/")) {
    return std::nullopt;
  }
  if (auto refusal = Refusal(request, "/debug")) return refusal;
  try {
    return request.method == "GET" ? AnswerGet(request) : AnswerPost(request);
  } catch (const ParseError& error) {
    return ErrorReply(400, error.what());
  } catch (const Json::exception& error) {
    return ErrorReply(400, std::string("malformed body: ") + error.what());
  }
}

Reply DebugPaths::AnswerGet(const Request& request) {
  if (request.path == "/debug") return Describe();
  if (request.path == "/debug/trace") return OpenStream(request);
  if (request.path.starts_with(kAttempts)) {
    return GetAttempt(request.path.substr(kAttempts.size()));
  }
  return ErrorReply(404, Quoted(request.path) + " does not exist");
}

Reply DebugPaths::AnswerPost(const Request& request) {
  const bool is_pace = request.path == "/debug/pace";
  if (request.method != "POST" ||
      (!is_pace && request.path != "/debug/waiting")) {
    return ErrorReply(404, fmt::format("{} {} does not exist", request.method,
                                       Quoted(request.path)));
  }
  if (request.ContentType() != "application/json") {
    return ErrorReply(415, "Content-Type must be application/json");
  }
  if (!options_.control) {
    return ErrorReply(403,
                      "this scheduler only reports: to control it, start it "
                      "with --debug-control");
  }
  const Json body = Json::parse(request.body);
  if (is_pace) {
    pace_.Set(body.at("pace"));
    return {.status = 204};
  }
  const std::string uid = body.at("uid");
  if (!trace_.EndWait(uid, body.at("allow").get<bool>())) {
    return ErrorReply(409, "the pod with the uid " + Quoted(uid) +
                               " does not wait on Permit");
  }
  return {.status = 204};
}

Reply DebugPaths::Describe() {
  return JsonReply({{"run", run_},
                    {"program", options_.program},
                    {"scheduler", options_.scheduler_name},
                    {"reports", trace_.ReportQueue()},
                    {"control", options_.control},
                    {"pace", pace_.pace()}});
}

Reply DebugPaths::OpenStream(const Request& request) {
  const auto detail = Choose<AttemptDetail>(
      request, "detail",
      {{"moves", AttemptDetail::kNone},
       {"attempts", AttemptDetail::kFirstRejections},
       {"all-rejections", AttemptDetail::kAllRejections}});
  const auto nodes = Choose<JsonDetail>(
      request, "nodes",
      {{"all", JsonDetail::kFull}, {"none", JsonDetail::kSummary}});
  const auto start = Choose<TraceStart>(
      request, "from",
      {{"last", TraceStart::kLastOfEach}, {"oldest", TraceStart::kOldest}});
  if (streams_ >= kMaxStreams) {
    return ErrorReply(503, fmt::format("{} programs already read the trace: "
                                       "end one of them",
                                       kMaxStreams));
  }
  trace_.ReportQueue();
  return {
      .content_type = "application/jsonl",
      .stream = std::make_unique<RecordStream>(*this, detail, nodes, start)};
}

Reply DebugPaths::GetAttempt(const std::string& name) const {
  const auto slash = name.rfind('/');
  int number = 0;
  const char* const end = name.data() + name.size();
  const char* parsed = nullptr;
  if (slash != name.npos) {
    parsed = std::from_chars(name.data() + slash + 1, end, number).ptr;
  }
  const RecordPtr record =
      parsed == end ? trace_.FindAttempt(name.substr(0, slash), number)
                    : nullptr;
  if (record) return {.body = ToJsonLine(*record)};
  return ErrorReply(404, "the trace does not have attempt " + Quoted(name) +
                             ": it keeps the newest ones that somebody has "
                             "read, and the last failed ones of pending pods");
}

}  // namespace minisched
