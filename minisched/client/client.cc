#include "minisched/client/client.h"

#include <algorithm>
#include <charconv>
#include <random>
#include <stdexcept>

#include "minisched/base/backoff.h"
#include "minisched/base/random.h"
#include "minisched/client/config_files.h"

namespace minisched {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kMaxRetries = 10;  // as client-go
constexpr seconds kLongestRetryAfter{60};
// How long past its own timeout a watch without bookmarks may be silent.
constexpr seconds kWatchGrace{30};

// How long the server asks us to wait before trying again; nullopt where it
// does not. As in client-go, an answer with Retry-After means that the request
// had no effect, so it holds for every verb.
std::optional<seconds> RetryAfter(const HttpResponse& response) {
  if (response.status != 429 && response.status < 500) return std::nullopt;
  const auto header = response.headers.find("retry-after");
  if (header == response.headers.end()) return std::nullopt;
  const std::string& text = header->second;
  seconds::rep count = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 0) {
    return std::nullopt;
  }
  return std::min(seconds(count), kLongestRetryAfter);
}

std::string ReasonOf(int code) {
  switch (code) {
    case 400:
      return "BadRequest";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 429:
      return "TooManyRequests";
    case 500:
      return "InternalError";
    case 503:
      return "ServiceUnavailable";
    default:
      return "Unknown";
  }
}

// What was answered: a Status, or, where something else than an API server
// answered, the first line of its text.
ApiError ToApiError(const HttpResponse& response) {
  ApiStatus status;
  try {
    status = FromJson<ApiStatus>(response.body);
  } catch (const ParseError&) {
    status = {};  // the answer is no Status: made up below
  }
  status.code = response.status;
  if (status.reason.empty()) status.reason = ReasonOf(response.status);
  if (status.message.empty()) {
    const std::string line = response.body.substr(
        0, std::min<std::size_t>(response.body.find_first_of("\r\n"), 200));
    status.message = "the server answered " + std::to_string(response.status) +
                     (line.empty() ? "" : ": " + line);
  }
  return ApiError(std::move(status));
}

bool IsSuccess(int status) { return status >= 200 && status < 300; }

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

// The head of the answer; with its body, where that is a refusal.
HttpResponse ReadAnswer(HttpStream& stream) {
  HttpResponse response = stream.head();
  if (IsSuccess(response.status)) return response;
  while (auto line = stream.ReadLine()) response.body += *line + "\n";
  return response;
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
      transport_(config_) {}

std::string Client::ServerVersion(std::stop_token stop) {
  return ParseAs<VersionInfo>(Send({.method = "GET", .path = "/version"}, stop))
      .git_version;
}

void Client::Bind(const Binding& binding, std::stop_token stop) {
  Send({.method = "POST",
        .path = Path(Pod::kResource, binding.metadata.namespace_name,
                     binding.metadata.name) +
                "/binding",
        .body = ToJson(binding)},
       stop);
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
  // Without its namespace the path would be that of something else.
  if (resource.namespaced) CheckName("namespace", namespace_name);
  CheckName("resource", name);
  return resource.Path(namespace_name, name);
}

std::string Client::BearerToken() {
  const std::string& path = config_.bearer_token_file;
  if (path.empty()) return config_.bearer_token;
  // Tokens in files are rotated, so the file is read for each request: that
  // costs less than finding out whether it has changed.
  MutexLock lock(token_mu_);
  try {
    token_ =
        ParseToken(ReadFile(path, "token file " + path), "token file " + path);
  } catch (const ConfigError&) {
    // Caught between two tokens: the old one may still do.
    if (token_.empty()) throw;
  }
  return token_;
}

HttpRequest Client::ToHttp(const Request& request) {
  HttpRequest http{.method = request.method,
                   .path = request.path,
                   .query = request.query,
                   .headers = {{"Accept", "application/json"},
                               {"User-Agent", config_.user_agent}},
                   .body = request.body};
  if (!request.body.empty()) {
    http.headers["Content-Type"] = request.content_type;
  }
  const std::string token = BearerToken();
  if (!token.empty()) http.headers["Authorization"] = "Bearer " + token;
  return http;
}

void Client::Try(const Request& request, const std::stop_token& stop,
                 const std::function<const HttpResponse&()>& attempt) {
  Backoff backoff({.initial = milliseconds(100), .max = milliseconds(3000)});
  for (int retries = 0;; ++retries) {
    if (!limiter_.Wait(stop)) throw Cancelled();
    milliseconds wait;
    try {
      const HttpResponse& response = attempt();
      if (IsSuccess(response.status)) return;
      const auto retry_after = RetryAfter(response);
      if (!retry_after || retries == kMaxRetries) throw ToApiError(response);
      wait = *retry_after;
    } catch (const TransportError& error) {
      if (error.kind() != TransportError::Kind::kLost ||
          request.method != "GET" || retries == kMaxRetries) {
        throw;
      }
      wait = backoff.Next();
    }
    if (!clock_.SleepFor(wait, stop)) throw Cancelled();
  }
}

std::string Client::Send(const Request& request, const std::stop_token& stop) {
  HttpResponse response;
  Try(request, stop, [&]() -> const HttpResponse& {
    return response = transport_.Send(ToHttp(request), stop);
  });
  return std::move(response.body);
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
  std::unique_ptr<HttpStream> stream;
  HttpResponse response;
  Try(request, stop, [&]() -> const HttpResponse& {
    stream = transport_.Open(ToHttp(request), idle_timeout, stop);
    return response = ReadAnswer(*stream);
  });
  return stream;
}

}  // namespace minisched
