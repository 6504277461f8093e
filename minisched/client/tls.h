#pragma once

#include <memory>
#include <string>

#include "minisched/base/mutex.h"
#include "minisched/client/rest_config.h"

struct ssl_ctx_st;         // OpenSSL's SSL_CTX
struct x509_store_ctx_st;  // OpenSSL's X509_STORE_CTX

namespace minisched {

// The TLS settings of a client's connections: trusted authorities, expected
// server name, client certificate. Thread-safe.
class Tls {
 public:
  // `host` is the host of the server's URL. Throws ConfigError if a certificate
  // or the key can't be read, or if OpenSSL refuses the client's certificates
  // or key, for example because they are too weak or don't belong together.
  Tls(const RestConfig& config, std::string host);
  ~Tls();

  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  // Applies the settings to the context of a new connection. The context must
  // not outlive this object. Doesn't throw, because the constructor has checked
  // the settings.
  void Configure(ssl_ctx_st* context);

  // Returns why the last certificate was rejected, as a message for users.
  // Empty if none was rejected since the last call.
  std::string TakeError() EXCLUDES(mu_);

  // Returns the name that the server's certificate must have, unless
  // certificates are not verified.
  const std::string& server_name() const { return server_name_; }

 private:
  struct Material;

  // Verifies the server's certificate. Returns 1 if it is trusted, else 0.
  int Verify(x509_store_ctx_st* chain) EXCLUDES(mu_);

  const std::string server_name_;
  const bool verify_;
  std::unique_ptr<Material> material_;

  Mutex mu_;
  std::string error_ GUARDED_BY(mu_);
};

// Returns true if `host` is an IPv4 or IPv6 address, also in brackets:
// "10.0.0.1", "fd00::1", "[fd00::1]".
bool IsIpAddress(const std::string& host);

}  // namespace minisched
