#pragma once

#include <memory>
#include <string>

#include "minisched/client/rest_config.h"
#include "minisched/client/server_address.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX
struct ssl_st;      // OpenSSL's SSL

namespace minisched {

// What is known about the TLS handshake of a connection.
struct TlsHandshake {
  bool has_begun = false;
  // Why the server's certificate was rejected, as a message for users; empty if
  // it was not.
  std::string refusal;
};

// The TLS settings of a client's connections: trusted authorities, expected
// server name, client certificate. Thread-safe.
class Tls {
 public:
  // Throws ConfigError if a certificate or the key can't be read, or if OpenSSL
  // refuses the client's certificates or key, for example because they are too
  // weak or don't belong together.
  Tls(const RestConfig& config, const ServerAddress& server);

  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  // Returns the settings for a new connection, which must not outlive this
  // object.
  ssl_ctx_st* context() const { return context_.get(); }

  // Prepares a new connection, which then sends the server's name, and sets
  // `*handshake`. `*handshake` must live as long as the connection is used.
  void Prepare(ssl_st* connection, TlsHandshake* handshake) const;

 private:
  // The name that the server's certificate must have, unless certificates are
  // not verified.
  const std::string server_name_;
  const std::shared_ptr<ssl_ctx_st> context_;
};

// Returns true if `host` is an IPv4 or IPv6 address, also in brackets:
// "10.0.0.1", "fd00::1", "[fd00::1]".
bool IsIpAddress(const std::string& host);

}  // namespace minisched
