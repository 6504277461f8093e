#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "minisched/base/clock.h"
#include "minisched/client/rest_config.h"
#include "minisched/client/result.h"
#include "minisched/client/transport.h"

namespace minisched {

// What a request is sent with. Never changed.
struct Credential {
  std::string token;  // empty: none
  // Presents the client certificate to the server, if there is one.
  std::shared_ptr<Transport> transport;
  // When the credential expires; nullopt: never.
  std::optional<Clock::WallTime> expiration = std::nullopt;
};
using CredentialPtr = std::shared_ptr<const Credential>;

// The credentials of a client, which may change with time. Thread-safe.
class Credentials {
 public:
  // Sends a request over a transport.
  using Send = std::function<void(
      Transport& transport, const HttpRequestPtr& request,
      const std::stop_token& stop, ClientCallback<HttpResponse> done)>;

  // Returns the credentials of a configuration: its certificate or token, or
  // else those that the program of `exec` prints. They expire by `clock`, which
  // must outlive them. Throws ConfigError.
  static std::unique_ptr<Credentials> Make(const RestConfig& config,
                                           Clock& clock);

  virtual ~Credentials() = default;

  // Sends a request with a credential. If the server refuses the credential
  // (401), the request had no effect. If the credential can be replaced, sends
  // the request once more with another one. Calls back with the last response,
  // or with TransportError, ConfigError or, when `stop` asks to stop,
  // Cancelled. The callback runs on any thread, perhaps before SendAsync()
  // returns. REQUIRES: this object lives until the callback.
  void SendAsync(HttpRequestPtr request, Send send, std::stop_token stop,
                 ClientCallback<HttpResponse> done);

 private:
  // What a request waits for until GetAsync() calls back.
  virtual std::string name() const = 0;

  // Calls back with the credential for a request, at once if there is one.
  virtual void GetAsync(std::stop_token stop,
                        ClientCallback<CredentialPtr> done) = 0;

  // The server has refused the credential. Returns true if GetAsync() may call
  // back with another one now.
  virtual bool Replace(const CredentialPtr& refused) = 0;

  void TryAsync(HttpRequestPtr request, Send send, bool is_first,
                std::stop_token stop, ClientCallback<HttpResponse> done);
};

}  // namespace minisched
