#pragma once

#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "minisched/api/json.h"
#include "minisched/api/meta.h"
#include "minisched/api/options.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/pod.h"
#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/client/errors.h"
#include "minisched/client/rate_limiter.h"
#include "minisched/client/rest_config.h"
#include "minisched/client/transport.h"
#include "minisched/client/watch_stream.h"

namespace minisched {

// Which objects of a kind: all, or those in a namespace, that match.
struct ListOptions {
  std::string namespace_name;  // empty: all namespaces
  std::string label_selector;  // "app=web,tier!=db"
  std::string field_selector;  // "spec.nodeName="
  // How many objects the server sends at a time; 0: all at once.
  int limit = 500;
  // The page to ListPage(): ListMeta::continue_token of the page before.
  std::string continue_token;
};

struct WatchOptions {
  std::string namespace_name;
  std::string label_selector;
  std::string field_selector;
  // Events after this version, as a list or the last event gave it; empty:
  // first what is there, as kAdded, then the events.
  std::string resource_version;
  // Ask for kBookmark events. The server sends one about once a minute, so
  // that a watch that is silent for RestConfig::watch_idle_timeout (150 s) has
  // lost its server, and throws TransportError (kTimeout). Without bookmarks,
  // a watch may be silent until 30 s after its timeout.
  bool bookmarks = true;
  // When the server is to end the watch. 0: five to ten minutes, drawn by
  // chance, so that watches that began together don't end together.
  std::chrono::seconds timeout{0};
};

enum class PatchType { kJson, kMerge, kStrategicMerge };

// Typed calls to a Kubernetes API server: client-go's REST client and clientset
// in one. Thread-safe.
//
// Every call waits its turn at the rate limit, and throws ApiError where the
// server refuses, TransportError where no answer came, Cancelled where `stop`
// asks to stop. A request that did not get through is sent again by the call
// itself where nothing can happen twice: after 429 or 5xx with a Retry-After,
// as the server asks, and a GET whose connection broke.
//
// T is an object type of minisched/api.
class Client {
 public:
  // Throws ConfigError where the configuration can't be used. Does not connect.
  // `clock`, which times rate limit and retries, must outlive the client.
  explicit Client(RestConfig config, Clock& clock = RealClock());

  const RestConfig& config() const { return config_; }

  // "v1.36.3".
  std::string ServerVersion(std::stop_token stop = {});

  template <class T>
  std::shared_ptr<const T> Get(std::string_view namespace_name,
                               std::string_view name,
                               std::stop_token stop = {}) {
    return Parse<T>(Send(
        {.method = "GET", .path = Path(T::kResource, namespace_name, name)},
        stop));
  }

  // All objects, page by page. What it returns is one state of the collection;
  // where that is compacted away half-way, starts again without pages.
  template <class T>
  ObjectList<T> List(ListOptions options = {}, std::stop_token stop = {}) {
    ObjectList<T> all;
    while (true) {
      ObjectList<T> page;
      try {
        page = ListPage<T>(options, stop);
      } catch (const ApiError& error) {
        if (error.code() != 410 || options.continue_token.empty()) throw;
        all = {};
        options.limit = 0;
        options.continue_token.clear();
        continue;
      }
      Append(all.items, page.items);
      Append(all.malformed, page.malformed);
      all.metadata = std::move(page.metadata);
      if (all.metadata.continue_token.empty()) return all;
      options.continue_token = all.metadata.continue_token;
    }
  }

  // One page, from options.continue_token on.
  template <class T>
  ObjectList<T> ListPage(const ListOptions& options,
                         std::stop_token stop = {}) {
    return ParseAs<ObjectList<T>>(
        Send(ListRequest(T::kResource, options), stop));
  }

  // The stream lives until it is destroyed, or `stop` asks to stop.
  template <class T>
  WatchStream<T> Watch(const WatchOptions& options, std::stop_token stop = {}) {
    return WatchStream<T>(OpenWatch(T::kResource, options, std::move(stop)));
  }

  // Returns the object as the server has stored it.
  template <class T>
  std::shared_ptr<const T> Create(const T& object, std::stop_token stop = {}) {
    return Parse<T>(
        Send({.method = "POST",
              .path = Path(T::kResource, object.metadata.namespace_name),
              .body = ToJson(object)},
             stop));
  }

  // Changes fields of an object, and leaves alone what it doesn't name.
  // `subresource` may be "status", or empty.
  template <class T>
  std::shared_ptr<const T> Patch(std::string_view namespace_name,
                                 std::string_view name, PatchType type,
                                 const std::string& patch,
                                 std::string_view subresource = {},
                                 std::stop_token stop = {}) {
    return Parse<T>(Send(PatchRequest(Path(T::kResource, namespace_name, name),
                                      type, patch, subresource),
                         stop));
  }

  template <class T>
  void Delete(std::string_view namespace_name, std::string_view name,
              const DeleteOptions& options = {}, std::stop_token stop = {}) {
    Send(DeleteRequest(Path(T::kResource, namespace_name, name), options),
         stop);
  }

  // Binds the pod that the binding's metadata name to its target.
  void Bind(const Binding& binding, std::stop_token stop = {});

  // A call for which there is no type, in its own words.
  struct Request {
    std::string method;
    std::string path;  // not encoded
    std::vector<std::pair<std::string, std::string>> query = {};
    std::string content_type = "application/json";
    std::string body = {};
  };

  // Returns the body of a success.
  std::string Send(const Request& request, const std::stop_token& stop = {});

 private:
  static Request ListRequest(const ApiResource& resource,
                             const ListOptions& options);
  static Request PatchRequest(std::string path, PatchType type,
                              const std::string& patch,
                              std::string_view subresource);
  static Request DeleteRequest(std::string path, const DeleteOptions& options);
  // The path of a collection, and of an object. Throw std::invalid_argument
  // for a name that can't be one.
  static std::string Path(const ApiResource& resource,
                          std::string_view namespace_name);
  static std::string Path(const ApiResource& resource,
                          std::string_view namespace_name,
                          std::string_view name);

  template <class T>
  static void Append(std::vector<T>& all, std::vector<T>& more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  }

  template <class T>
  T ParseAs(const std::string& body) {
    try {
      return FromJson<T>(body);
    } catch (const ParseError& error) {
      throw TransportError(TransportError::Kind::kProtocol,
                           config_.server + ": " + error.what());
    }
  }

  template <class T>
  std::shared_ptr<const T> Parse(const std::string& body) {
    return std::make_shared<const T>(ParseAs<T>(body));
  }

  HttpRequest ToHttp(const Request& request);
  std::string BearerToken() EXCLUDES(token_mu_);
  // Calls `attempt`, which sends the request, until its answer is a success.
  void Try(const Request& request, const std::stop_token& stop,
           const std::function<const HttpResponse&()>& attempt);
  std::unique_ptr<HttpStream> OpenWatch(const ApiResource& resource,
                                        const WatchOptions& options,
                                        std::stop_token stop);

  const RestConfig config_;
  Clock& clock_;
  RateLimiter limiter_;
  Transport transport_;
  Mutex token_mu_;
  std::string token_ GUARDED_BY(token_mu_);  // the last one read from a file
};

}  // namespace minisched
