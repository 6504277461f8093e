// Fuzzes the embedded API server without its connections. The input is a
// sequence of requests, with a line "%%" between two requests. A request has a
// line with the method and the target, a line for each header, an empty line,
// and the body. "SLEEP 500" is no request: it lets 500 milliseconds pass.

#include <algorithm>
#include <charconv>
#include <deque>
#include <utility>

#include "lab/apiserver/control_plane.h"
#include "lab/apiserver/errors.h"
#include "lab/apiserver/schema/schema.h"
#include "minisched/api/json.h"
#include "minisched/api/json_mutator.h"
#include "minisched/api/node.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/pod.h"
#include "minisched/base/fuzzing.h"

namespace minisched::apiserver {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxRequests = 16;
constexpr int kMaxSleep = 600'000;

// A loop with its own clock. Each call of Advance() runs a limited number of
// tasks, because a request may ask for a million pods.
class BoundedLoop : public Loop {
 public:
  Time Now() const override { return now_; }
  void Post(std::function<void()> task) override {
    After(milliseconds(0), std::move(task));
  }
  void After(milliseconds delay, std::function<void()> task) override {
    tasks_.emplace(now_ + delay, std::move(task));
  }

  void Advance(milliseconds duration) {
    constexpr int kMaxTasks = 100;
    const Time end = now_ + duration;
    for (int i = 0; i < kMaxTasks; ++i) {
      if (tasks_.empty() || tasks_.begin()->first > end) break;
      const auto task = tasks_.extract(tasks_.begin());
      now_ = std::max(now_, task.key());
      task.mapped()();
    }
    now_ = end;
  }

 private:
  Time now_{std::chrono::seconds(1'800'000'000)};
  std::multimap<Time, std::function<void()>> tasks_;
};

// Returns the parts of the input between lines "%%".
std::vector<std::string_view> SplitRequests(std::string_view text) {
  constexpr std::string_view kSeparator = "\n%%\n";
  std::vector<std::string_view> parts;
  while (parts.size() < kMaxRequests) {
    const std::size_t end = text.find(kSeparator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) break;
    text.remove_prefix(end + kSeparator.size());
  }
  return parts;
}

// Parses a request as HttpServer does. Returns nullopt if HttpServer would
// answer the request itself.
std::optional<Request> ParseRequest(std::string_view text) {
  const std::string_view line = TakeLine(text);
  const std::size_t space = std::min(line.find(' '), line.size());
  Request request{.method = std::string(line.substr(0, space))};
  const auto target = line.substr(std::min(space + 1, line.size()));
  if (!ParseTarget(target, request)) return std::nullopt;
  while (!text.empty()) {
    const std::string_view header = TakeLine(text);
    if (header.empty()) break;
    const std::size_t colon = std::min(header.find(": "), header.size());
    std::string name(header.substr(0, colon));
    std::ranges::transform(name, name.begin(), [](unsigned char c) {
      return static_cast<char>(std::tolower(c));
    });
    request.headers[name] = header.substr(std::min(colon + 2, header.size()));
  }
  request.body = text;
  return request;
}

Json ParseBody(const std::string& body) {
  Json document = Json::parse(body, nullptr, false);
  Require(!document.is_discarded(), "a JSON body is JSON", body);
  return document;
}

void CheckError(const Json& status, int code, bool faults) {
  const std::string text = Dump(status);
  Require(GetString(status, "kind") == "Status", "an error is a Status", text);
  Require(GetString(status, "status") == "Failure",
          "an error has the status Failure", text);
  Require(GetInt(status, "code") == code, "a Status has the status code", text);
  Require(!GetString(status, "message").empty(), "an error has a message",
          text);
  const bool internal = GetString(status, "reason") == "InternalError";
  Require(faults || !internal, "no request causes an internal error", text);
}

// Returns the parsed body, or null if the body is a stream or not JSON.
Json CheckReply(const Reply& reply, bool faults) {
  Require(reply.status >= 200 && reply.status < 600,
          "a status is from 200 to 599", std::to_string(reply.status));
  for (const auto& [name, value] : reply.headers) {
    const bool clean = std::ranges::none_of(
        name + value, [](unsigned char c) { return c < ' ' || c == 0x7f; });
    Require(clean, "a header is one line", value);
  }
  const bool json = reply.content_type.starts_with("application/json");
  Require(json || reply.status < 400, "an error is JSON", reply.content_type);
  if (!json || reply.stream) return nullptr;
  Json document = ParseBody(reply.body);
  if (reply.status >= 400) CheckError(document, reply.status, faults);
  return document;
}

// A client that watches all pods and remembers them.
class PodWatcher {
 public:
  void Start(std::unique_ptr<Stream> stream) { stream_ = std::move(stream); }

  void Read() {
    std::string text;
    do {
      text.clear();
      Require(stream_->Read(text), "a watch does not end");
      std::string_view rest = text;
      while (!rest.empty()) Apply(Json::parse(TakeLine(rest)));
    } while (!text.empty());
  }

  void Compare(const Store::Collection& stored) const {
    Require(pods_.size() == stored.size(), "a watcher sees all pods");
    for (const auto& [key, pod] : stored) {
      const auto seen = pods_.find(key);
      Require(seen != pods_.end() && seen->second == *pod,
              "a watcher sees each pod", Dump(*pod));
    }
  }

 private:
  void Apply(const Json& event) {
    const std::string type = GetString(event, "type");
    const Json& pod = Get(event, "object");
    const Store::Key key(NamespaceOf(pod), NameOf(pod));
    Require(pods_.contains(key) == (type != "ADDED"),
            "a watch adds a pod once, before other events", Dump(event));
    if (type == "DELETED") {
      pods_.erase(key);
    } else {
      pods_[key] = pod;
    }
  }

  std::unique_ptr<Stream> stream_;
  std::map<Store::Key, Json> pods_;
};

class Client {
 public:
  Client() {
    control_plane_.registry().random().seed(1);
    control_plane_.SetAddress("127.0.0.1:8080");
    loop_.Advance(milliseconds(10));
    watcher_.Start(
        Answer({.method = "GET",
                .path = "/api/v1/pods",
                .query = {{"watch", "1"}, {"timeoutSeconds", "1000000000"}}})
            .stream);
    initial_version_ = control_plane_.store().version();
  }

  void Play(std::string_view text) {
    if (text.starts_with("SLEEP ")) return Sleep(text.substr(6));
    auto request = ParseRequest(text);
    if (!request) return;
    faults_ |= request->path.starts_with("/minisched/faults");
    control_plane_.Serve(*std::move(request), [this](Reply reply) {
      if (reply.delivery != Reply::Delivery::kSent) return;
      CheckReply(reply, faults_);
      if (reply.on_sent) reply.on_sent();
      if (reply.stream) streams_.push_back(std::move(reply.stream));
    });
    Advance(milliseconds(0));
  }

  // Checks what must be true after any requests.
  void CheckState() {
    control_plane_.SetFaults({});
    watcher_.Compare(control_plane_.store().All("pods"));
    for (const ResourceRow& row : AllResources()) CheckObjects(row);
  }

 private:
  void Sleep(std::string_view text) {
    int duration = 0;
    std::from_chars(text.data(), text.data() + text.size(), duration);
    Advance(milliseconds(std::clamp(duration, 0, kMaxSleep)));
  }

  void Advance(milliseconds duration) {
    loop_.Advance(duration);
    watcher_.Read();
    for (const auto& stream : streams_) {
      std::string text;
      stream->Read(text);
      std::string_view rest = text;
      while (!rest.empty()) ParseBody(std::string(TakeLine(rest)));
    }
  }

  // Returns the reply to a request that must be answered at once.
  Reply Answer(Request request) {
    std::optional<Reply> answer;
    control_plane_.Serve(std::move(request),
                         [&](Reply reply) { answer = std::move(reply); });
    Require(answer.has_value(), "a request is answered");
    CheckReply(*answer, false);
    return *std::move(answer);
  }

  bool IsNew(const Json& object) const {
    return std::stoull(GetString(object, "metadata", "resourceVersion")) >
           initial_version_;
  }

  static std::string PathOf(const ResourceRow& row, const Json& object) {
    std::string path = row.group.empty() ? "/api" : "/apis/" + row.group;
    path += "/" + row.version;
    if (row.namespaced) path += "/namespaces/" + NamespaceOf(object);
    return path + "/" + row.plural + "/" + NameOf(object);
  }

  // Checks a few of the resource's objects that the requests have written.
  void CheckObjects(const ResourceRow& row) {
    constexpr int kFew = 3;
    const auto all = control_plane_.store().All(CollectionOf(row));
    int checked = 0;
    for (const auto& [key, object] : all) {
      if (!IsNew(*object)) continue;
      if (checked++ < kFew) CheckObject(row, *object);
    }
    if (checked == 0) return;
    std::string path = row.group.empty() ? "/api" : "/apis/" + row.group;
    path += "/" + row.version + "/" + row.plural;
    const Reply table =
        Answer({.method = "GET",
                .path = path,
                .headers = {{"accept",
                             "application/json;as=Table;v=v1;g=meta.k8s.io"}}});
    Require(table.status == 200, "each collection has a table", table.body);
  }

  void CheckObject(const ResourceRow& row, const Json& object) {
    const std::string path = PathOf(row, object);
    const Reply read = Answer({.method = "GET", .path = path});
    Require(read.status == 200, "an object can be read", path + read.body);
    CheckReadable(row, read.body);
    const std::uint64_t version = control_plane_.store().version();
    const Reply put = Answer({.method = "PUT",
                              .path = path,
                              .query = {{"fieldValidation", "Strict"}},
                              .headers = {{"content-type", "application/json"}},
                              .body = read.body});
    Require(put.status == 200 && put.body == read.body,
            "an object can be written back", read.body + " to " + put.body);
    const Reply patched =
        Answer({.method = "PATCH",
                .path = path,
                .headers = {{"content-type", "application/merge-patch+json"}},
                .body = "{}"});
    Require(patched.status == 200 && patched.body == read.body,
            "an empty patch changes nothing",
            read.body + " to " + patched.body);
    Require(control_plane_.store().version() == version,
            "an unchanged object keeps its version", read.body);
  }

  // Checks that the schedulers can read the object.
  static void CheckReadable(const ResourceRow& row, const std::string& body) {
    try {
      if (row.kind == "Pod") FromJson<Pod>(body);
      if (row.kind == "Node") FromJson<Node>(body);
    } catch (const ParseError& error) {
      Require(false, "the client can read an object", error.what() + body);
    }
  }

  BoundedLoop loop_;
  ControlPlane control_plane_{
      loop_,
      {.simulate_kubelet = true, .simulate_workloads = true},
      [](milliseconds) {}};
  PodWatcher watcher_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::uint64_t initial_version_ = 0;
  bool faults_ = false;  // faults may have been injected
};

}  // namespace
}  // namespace minisched::apiserver

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  using namespace minisched::apiserver;
  Client client;
  for (const auto request : SplitRequests(InputText(data, size))) {
    client.Play(request);
  }
  client.CheckState();
  return 0;
}
