#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "minisched/api/json.h"
#include "minisched/api/meta.h"
#include "minisched/api/options.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/pod.h"
#include "minisched/base/clock.h"
#include "minisched/base/executor.h"
#include "minisched/base/mutex.h"
#include "minisched/base/wait_group.h"
#include "minisched/client/call.h"
#include "minisched/client/credentials.h"
#include "minisched/client/errors.h"
#include "minisched/client/rate_limiter.h"
#include "minisched/client/rest_config.h"
#include "minisched/client/result.h"
#include "minisched/client/transport.h"
#include "minisched/client/watch_stream.h"

namespace minisched {

// Selects objects of a kind: all, or those of a namespace, that match.
struct ListOptions {
  std::string namespace_name;  // empty: all namespaces
  std::string label_selector;  // "app=web,tier!=db"
  std::string field_selector;  // "spec.nodeName="
  // The most objects that the server sends at a time; 0: all at once.
  int limit = 500;
  // For ListPage(): ListMeta::continue_token of the page before.
  std::string continue_token;
  // Pods and nodes keep their whole JSON.
  bool keep_json = false;
};

struct WatchOptions {
  std::string namespace_name;
  std::string label_selector;
  std::string field_selector;
  // The watch sends the events after this version, which a list or an event
  // returned. Empty: first what exists, as kAdded, then the events.
  std::string resource_version;
  // Ask for kBookmark events. The server sends one about once a minute, so a
  // watch that is silent for RestConfig::watch_idle_timeout (150 s) has lost
  // its server, and throws TransportError (kTimeout). Without bookmarks, a
  // watch may be silent until 30 s after its timeout.
  bool bookmarks = true;
  // When the server ends the watch. 0: after five to ten minutes, drawn at
  // random, so that watches that began together don't end together.
  std::chrono::seconds timeout{0};
  // How long the watch waits, by the client's clock, before it reads from the
  // connection. Events come up to this much later, but many come with one read,
  // which costs less than a read for each event.
  std::chrono::milliseconds read_delay{0};
  bool keep_json = false;  // as in ListOptions
};

enum class PatchType { kJson, kMerge, kStrategicMerge };

// Typed calls to a Kubernetes API server: client-go's REST client and clientset
// in one. Thread-safe.
//
// Each call waits for its turn at the rate limit. It fails with ApiError if the
// server refuses the request, with TransportError if no response comes or the
// answer can't be read, with ConfigError if the token file holds no token or
// RestConfig::exec fails, and with Cancelled if `stop` asks to stop. A call
// sends its request again by itself where nothing can happen twice: after 429
// or 5xx with a Retry-After, as the server asks but after a minute at the
// latest, if the connection of a GET broke, and once with new credentials of
// RestConfig::exec after 401. Verbs with a parameter `retries` also do this, so
// many times, after 500, after 503 and if the connection is refused.
//
// Most verbs block and throw these errors. The verbs ...Async() don't block:
// they return at once and pass the result to a callback. A thousand of them
// under way cost memory and connections, but no threads. Each callback is
// called exactly once, on one of the two threads of executor(), never from
// within the verb. A callback must not block; above all, it must not call a
// verb that blocks.
//
// Paths are made of names. A call with a name that can't be one fails with
// std::invalid_argument, and sends nothing.
//
// T is an object type of minisched/api.
class Client {
 public:
  // Receives an object as the server has stored it.
  template <class T>
  using ObjectCallback =
      ClientCallback<std::shared_ptr<const std::type_identity_t<T>>>;

  // Throws ConfigError if the configuration can't be used. Does not connect.
  // `clock`, which times rate limit, retries and read delays, must outlive the
  // client and its watches. Deadlines of requests follow the real clock.
  explicit Client(RestConfig config, Clock& clock = RealClock());

  // Cancels the calls under way and blocks until their callbacks have returned
  // and have been destroyed. REQUIRES: the caller is not a callback, and no
  // other thread is in a verb, except in a callback. A WatchStream may outlive
  // its client.
  ~Client();

  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const RestConfig& config() const { return config_; }

  // Returns the clock that was passed to the constructor.
  Clock& clock() { return clock_; }

  // Calls `may_write` immediately before a request other than GET is sent, or
  // sent again, and cancels the request if it returns false. The caller can't
  // check this: after its check, the request may wait for the rate limit.
  // `may_write` must not block, and must not use the client. An empty function
  // allows all requests. Once GuardWrites() has returned, the previous
  // `may_write` is not called any more.
  void GuardWrites(std::function<bool()> may_write) EXCLUDES(guard_mu_) {
    MutexLock lock(guard_mu_);
    may_write_ = std::move(may_write);
  }

  // Runs the callbacks. Follows the client's clock.
  Executor& executor() { return executor_; }

  // Returns the version of the server, such as "v1.37.2"; "" if its response
  // has none. Blocks, and throws the errors above. `on_wait` may still be
  // called for a moment after this returns.
  std::string ServerVersion(std::stop_token stop = {},
                            WaitObserver on_wait = {});

  template <class T>
  std::shared_ptr<const T> Get(std::string_view namespace_name,
                               std::string_view name,
                               std::stop_token stop = {}) {
    return Parse<T>(Send(
        {.method = "GET", .path = Path(T::kResource, namespace_name, name)},
        std::move(stop)));
  }

  template <class T>
  void GetAsync(std::string_view namespace_name, std::string_view name,
                std::stop_token stop, ObjectCallback<T> callback,
                int retries = 0) {
    MakeAndSendAsync(
        [&] {
          return Request{.method = "GET",
                         .path = Path(T::kResource, namespace_name, name),
                         .retries = retries};
        },
        std::move(stop), Parsing<T>(std::move(callback)));
  }

  // Returns all objects, read page by page, in one state of the collection. If
  // the server drops that state half-way, starts again without pages.
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

  // Returns one page, from options.continue_token on.
  template <class T>
  ObjectList<T> ListPage(const ListOptions& options,
                         std::stop_token stop = {}) {
    return ParseAs<ObjectList<T>>(
        Send(ListRequest(T::kResource, options), std::move(stop)),
        options.keep_json);
  }

  // The stream lives until it is destroyed, or `stop` asks to stop.
  template <class T>
  WatchStream<T> Watch(const WatchOptions& options, std::stop_token stop = {}) {
    return WatchStream<T>(OpenWatch(T::kResource, options, std::move(stop)),
                          options.keep_json);
  }

  // Returns the object as the server has stored it.
  template <class T>
  std::shared_ptr<const T> Create(const T& object, std::stop_token stop = {}) {
    return Parse<T>(Send(CreateRequest(object), std::move(stop)));
  }

  template <class T>
  void CreateAsync(const T& object, std::stop_token stop,
                   ClientCallback<void> callback) {
    MakeAndSendAsync([&] { return CreateRequest(object); }, std::move(stop),
                     IgnoringBody(std::move(callback)));
  }

  // Replaces an object, and returns the object as the server has stored it.
  // Fields that T doesn't have are lost. If `object` has a resource version,
  // fails with ApiError (409) unless that is the version on the server.
  template <class T>
  std::shared_ptr<const T> Update(const T& object, std::stop_token stop = {}) {
    return Parse<T>(
        Send({.method = "PUT",
              .path = Path(T::kResource, object.metadata.namespace_name,
                           object.metadata.name),
              .body = ToJson(object)},
             std::move(stop)));
  }

  // Changes the fields of an object that the patch names. `subresource` may be
  // "status", or empty.
  template <class T>
  std::shared_ptr<const T> Patch(std::string_view namespace_name,
                                 std::string_view name, PatchType type,
                                 const std::string& patch,
                                 std::string_view subresource = {},
                                 std::stop_token stop = {}) {
    return Parse<T>(Send(PatchRequest(Path(T::kResource, namespace_name, name),
                                      type, patch, subresource),
                         std::move(stop)));
  }

  template <class T>
  void PatchAsync(std::string_view namespace_name, std::string_view name,
                  PatchType type, const std::string& patch,
                  std::string_view subresource, std::stop_token stop,
                  ClientCallback<void> callback, int retries = 0) {
    MakeAndSendAsync(
        [&] {
          Request request =
              PatchRequest(Path(T::kResource, namespace_name, name), type,
                           patch, subresource);
          request.retries = retries;
          return request;
        },
        std::move(stop), IgnoringBody(std::move(callback)));
  }

  // The same, but parses the object that the server returns, and passes it on.
  template <class T>
  void PatchAndParseAsync(std::string_view namespace_name,
                          std::string_view name, PatchType type,
                          const std::string& patch, std::stop_token stop,
                          ObjectCallback<T> callback) {
    MakeAndSendAsync(
        [&] {
          return PatchRequest(Path(T::kResource, namespace_name, name), type,
                              patch, {});
        },
        std::move(stop), Parsing<T>(std::move(callback)));
  }

  template <class T>
  void Delete(std::string_view namespace_name, std::string_view name,
              const DeleteOptions& options = {}, std::stop_token stop = {}) {
    Send(DeleteRequest(Path(T::kResource, namespace_name, name), options),
         std::move(stop));
  }

  template <class T>
  void DeleteAsync(std::string_view namespace_name, std::string_view name,
                   const DeleteOptions& options, std::stop_token stop,
                   ClientCallback<void> callback) {
    MakeAndSendAsync(
        [&] {
          return DeleteRequest(Path(T::kResource, namespace_name, name),
                               options);
        },
        std::move(stop), IgnoringBody(std::move(callback)));
  }

  // Binds the pod that the binding's metadata name to its target. Sends the
  // request again, up to three times, after 500, after 503 and if the
  // connection is refused. If the first one took effect after all, the next one
  // fails with 409. Follows BindPod of kubernetes' pkg/scheduler/util/utils.go.
  void Bind(const Binding& binding, std::stop_token stop = {});
  void BindAsync(const Binding& binding, std::stop_token stop,
                 ClientCallback<void> callback);

  // A request for which there is no typed verb.
  struct Request {
    std::string method;
    std::string path;  // not encoded
    std::vector<std::pair<std::string, std::string>> query = {};
    std::string content_type = "application/json";
    std::string body = {};
    std::string accept = "application/json";
    WaitObserver on_wait = {};
    // How often the request is sent again after 500, after 503 and if the
    // connection is refused. It may have taken effect each time.
    int retries = 0;
  };

  // Returns the body of a success.
  std::string Send(Request request, std::stop_token stop = {});
  void SendAsync(Request request, std::stop_token stop,
                 ClientCallback<std::string> callback);

 private:
  static Request BindRequest(const Binding& binding);
  template <class T>
  static Request CreateRequest(const T& object) {
    return {.method = "POST",
            .path = Path(T::kResource, object.metadata.namespace_name),
            .body = ToJson(object)};
  }
  static Request ListRequest(const ApiResource& resource,
                             const ListOptions& options);
  static Request PatchRequest(std::string path, PatchType type,
                              const std::string& patch,
                              std::string_view subresource);
  static Request DeleteRequest(std::string path, const DeleteOptions& options);
  // Return the path of a collection and of an object. Throw
  // std::invalid_argument for a name that can't be one.
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
  T ParseAs(const std::string& body, bool keep_json = false) {
    try {
      return FromJson<T>(body, keep_json);
    } catch (const ParseError& error) {
      throw TransportError(TransportError::Kind::kProtocol,
                           config_.server + ": " + error.what());
    }
  }

  template <class T>
  std::shared_ptr<const T> Parse(const std::string& body) {
    return std::make_shared<const T>(ParseAs<T>(body));
  }

  // Returns a callback that parses an object and passes it on.
  template <class T>
  ClientCallback<std::string> Parsing(ObjectCallback<T> callback) {
    return
        [this, callback = std::move(callback)](ClientResult<std::string> body) {
          callback(std::move(body).and_then(
              [this](const std::string& text) { return TryParse<T>(text); }));
        };
  }

  // Returns a callback that passes on whether the call has succeeded.
  static ClientCallback<std::string> IgnoringBody(
      ClientCallback<void> callback);

  template <class T>
  ClientResult<std::shared_ptr<const T>> TryParse(const std::string& text) {
    try {
      return Parse<T>(text);
    } catch (const TransportError& error) {
      return tl::make_unexpected(ClientError(error));
    }
  }

  // Sends what `make` returns. If it throws, passes std::invalid_argument to
  // the callback.
  template <class Make>
  void MakeAndSendAsync(const Make& make, std::stop_token stop,
                        ClientCallback<std::string> callback) {
    Request request;
    try {
      request = make();
    } catch (const std::exception& error) {
      return Refuse(error.what(), std::move(callback));
    }
    SendAsync(std::move(request), std::move(stop), std::move(callback));
  }
  void Refuse(const char* why, ClientCallback<std::string> callback);

  HttpRequest ToHttp(Request request) const;
  // Returns false if GuardWrites() forbids the request.
  bool MaySend(const HttpRequest& request) const EXCLUDES(guard_mu_);
  void Start(Request request, Credentials::Send send, std::stop_token stop,
             ClientCallback<HttpResponse> done);
  std::unique_ptr<HttpStream> OpenWatch(const ApiResource& resource,
                                        const WatchOptions& options,
                                        std::stop_token stop);

  const RestConfig config_;
  Clock& clock_;
  RateLimiter limiter_;
  const std::unique_ptr<Credentials> credentials_;
  mutable Mutex guard_mu_;
  std::function<bool()> may_write_ GUARDED_BY(guard_mu_);
  std::stop_source destroyed_;  // stops all calls
  WaitGroup calls_;             // under way
  Executor executor_;           // last: its tasks use the others
};

}  // namespace minisched
