#include "minisched/client/client.h"

#include <algorithm>
#include <random>
#include <stdexcept>

#include "minisched/base/random.h"

namespace minisched {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Two, so that a slow callback does not hold up all others.
constexpr std::size_t kThreads = 2;
// How long after its timeout a watch without bookmarks may be silent.
constexpr seconds kWatchGrace{30};

constexpr int kMaxBindRetries = 3;

std::string_view ContentType(PatchType type) {
  switch (type) {
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kStrategicMerge:
      return "application/strategic-merge-patch+json";
  }
  throw std::invalid_argument("no such patch type");
}

seconds RandomWatchTimeout() {
  std::uniform_int_distribution<int> spread(300, 600);
  return seconds(spread(ThreadRandom()));
}

void CheckName(const std::string& what, std::string_view name) {
  // Upstream's IsValidPathSegmentName: such a name would change the URL.
  if (name.empty() || name == "." || name == ".." ||
      name.find_first_of("/%") != std::string_view::npos) {
    throw std::invalid_argument("invalid " + what + " name \"" +
                                std::string(name) + "\"");
  }
}

template <class Options>
std::vector<std::pair<std::string, std::string>> SelectorQuery(
    const Options& options) {
  std::vector<std::pair<std::string, std::string>> query;
  if (!options.label_selector.empty()) {
    query.emplace_back("labelSelector", options.label_selector);
  }
  if (!options.field_selector.empty()) {
    query.emplace_back("fieldSelector", options.field_selector);
  }
  return query;
}

}  // namespace

Client::Client(RestConfig config, Clock& clock)
    : config_(std::move(config)),
      clock_(clock),
      limiter_(config_.qps, config_.burst, clock),
      credentials_(Credentials::Make(config_, clock_)),
      executor_(kThreads, clock) {}

Client::~Client() {
  destroyed_.request_stop();
  // The real clock: a fake one would count this thread as a sleeper.
  calls_.WaitUntil(RealClock(), Clock::TimePoint::max());
}

std::string Client::ServerVersion(std::stop_token stop, WaitObserver on_wait) {
  return ParseAs<VersionInfo>(Send({.method = "GET",
                                    .path = "/version",
                                    .on_wait = std::move(on_wait)},
                                   std::move(stop)))
      .git_version;
}

void Client::Bind(const Binding& binding, std::stop_token stop) {
  Send(BindRequest(binding), std::move(stop));
}

void Client::BindAsync(const Binding& binding, std::stop_token stop,
                       ClientCallback<void> callback) {
  MakeAndSendAsync([&] { return BindRequest(binding); }, std::move(stop),
                   IgnoringBody(std::move(callback)));
}

void Client::Refuse(const char* why, ClientCallback<std::string> callback) {
  executor_.Post(
      [under_way = std::make_shared<WaitGroup::Token>(calls_.Begin()),
       error = ClientError(std::invalid_argument(why)),
       callback = std::move(callback)] { callback(tl::unexpected(error)); });
}

ClientCallback<std::string> Client::IgnoringBody(
    ClientCallback<void> callback) {
  return [callback = std::move(callback)](ClientResult<std::string> result) {
    callback(std::move(result).map([](const std::string&) {}));
  };
}

Client::Request Client::BindRequest(const Binding& binding) {
  return {.method = "POST",
          .path = Path(Pod::kResource, binding.metadata.namespace_name,
                       binding.metadata.name) +
                  "/binding",
          .body = ToJson(binding),
          .retries = kMaxBindRetries};
}

Client::Request Client::ListRequest(const ApiResource& resource,
                                    const ListOptions& options) {
  Request request{.method = "GET",
                  .path = Path(resource, options.namespace_name),
                  .query = SelectorQuery(options)};
  if (options.limit > 0) {
    request.query.emplace_back("limit", std::to_string(options.limit));
  }
  if (!options.continue_token.empty()) {
    request.query.emplace_back("continue", options.continue_token);
  }
  return request;
}

Client::Request Client::PatchRequest(std::string path, PatchType type,
                                     const std::string& patch,
                                     std::string_view subresource) {
  if (!subresource.empty()) path.append("/").append(subresource);
  return {.method = "PATCH",
          .path = std::move(path),
          .content_type = std::string(ContentType(type)),
          .body = patch};
}

Client::Request Client::DeleteRequest(std::string path,
                                      const DeleteOptions& options) {
  Request request{.method = "DELETE", .path = std::move(path)};
  if (options.grace_period_seconds || !options.uid.empty()) {
    request.body = ToJson(options);
  }
  return request;
}

std::string Client::Path(const ApiResource& resource,
                         std::string_view namespace_name) {
  if (!namespace_name.empty()) CheckName("namespace", namespace_name);
  return resource.Path(namespace_name);
}

std::string Client::Path(const ApiResource& resource,
                         std::string_view namespace_name,
                         std::string_view name) {
  // Without its namespace, the path would be that of another object.
  if (resource.namespaced) CheckName("namespace", namespace_name);
  CheckName("resource", name);
  return resource.Path(namespace_name, name);
}

HttpRequest Client::ToHttp(Request request) const {
  HttpRequest http{.method = std::move(request.method),
                   .path = std::move(request.path),
                   .query = std::move(request.query),
                   .headers = {{"Accept", std::move(request.accept)},
                               {"User-Agent", config_.user_agent}},
                   .body = std::move(request.body),
                   .on_wait = std::move(request.on_wait)};
  if (!http.body.empty()) {
    http.headers["Content-Type"] = std::move(request.content_type);
  }
  return http;
}

bool Client::MaySend(const HttpRequest& request) const {
  if (request.method == "GET") return true;
  MutexLock lock(guard_mu_);
  return !may_write_ || may_write_();
}

void Client::Start(Request request, Credentials::Send send,
                   std::stop_token stop, ClientCallback<HttpResponse> done) {
  const int retries = request.retries;
  const auto http =
      std::make_shared<const HttpRequest>(ToHttp(std::move(request)));
  Call::Start(
      {.executor = executor_,
       .clock = clock_,
       .limiter = limiter_,
       .attempt =
           [this, http, send = std::move(send)](
               const std::stop_token& cancelled,
               ClientCallback<HttpResponse> sent) {
             if (!MaySend(*http)) {
               return sent(tl::make_unexpected(ClientError(Cancelled())));
             }
             credentials_->SendAsync(http, send, cancelled, std::move(sent));
           },
       .request = http,
       .retries = retries,
       .stop = std::move(stop),
       .client_stop = destroyed_.get_token(),
       .done = std::move(done),
       .under_way = calls_.Begin()});
}

void Client::SendAsync(Request request, std::stop_token stop,
                       ClientCallback<std::string> callback) {
  Start(
      std::move(request),
      [](Transport& transport, const HttpRequestPtr& http,
         const std::stop_token& cancelled, ClientCallback<HttpResponse> done) {
        transport.SendAsync(http, cancelled, std::move(done));
      },
      std::move(stop),
      [callback = std::move(callback)](ClientResult<HttpResponse> result) {
        callback(std::move(result).map(
            [](HttpResponse&& response) { return std::move(response.body); }));
      });
}

std::string Client::Send(Request request, std::stop_token stop) {
  return Await<std::string>([&](auto done) {
    SendAsync(std::move(request), std::move(stop), std::move(done));
  });
}

std::unique_ptr<HttpStream> Client::OpenWatch(const ApiResource& resource,
                                              const WatchOptions& options,
                                              std::stop_token stop) {
  const seconds timeout =
      options.timeout == seconds(0) ? RandomWatchTimeout() : options.timeout;
  Request request{.method = "GET",
                  .path = Path(resource, options.namespace_name),
                  .query = SelectorQuery(options)};
  request.query.emplace_back("watch", "true");
  request.query.emplace_back("timeoutSeconds", std::to_string(timeout.count()));
  if (options.bookmarks) {
    request.query.emplace_back("allowWatchBookmarks", "true");
  }
  if (!options.resource_version.empty()) {
    request.query.emplace_back("resourceVersion", options.resource_version);
  }
  milliseconds idle_timeout = timeout + kWatchGrace;
  if (options.bookmarks) {
    idle_timeout = std::min(idle_timeout, config_.watch_idle_timeout);
  }
  const auto stream = std::make_shared<std::unique_ptr<HttpStream>>();
  Await<HttpResponse>([&](auto done) {
    // The stream outlives the call: `stop` stops it, not the call's token.
    Start(
        std::move(request),
        [idle_timeout, stop, stream](
            Transport& transport, const HttpRequestPtr& http,
            const std::stop_token&, ClientCallback<HttpResponse> done) {
          transport.OpenAsync(
              http, idle_timeout, stop,
              [stream, done = std::move(done)](
                  ClientResult<std::unique_ptr<HttpStream>> opened) {
                if (!opened) {
                  return done(tl::make_unexpected(std::move(opened).error()));
                }
                *stream = *std::move(opened);
                done((*stream)->head());
              });
        },
        stop, std::move(done));
  });
  (*stream)->SetReadDelay(options.read_delay, clock_);
  return std::move(*stream);
}

}  // namespace minisched
