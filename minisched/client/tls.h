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
  // `host` is the host of the server's URL. Throws ConfigError if the
  // certificates or the key can't be used, or are too weak for OpenSSL.
  Tls(const RestConfig& config, std::string host);
  ~Tls();

  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  // Applies the settings to the context of a new connection, which must not
  // outlive this object. Throws nothing: the constructor has checked them.
  void Configure(ssl_ctx_st* context);

  // Returns why the last certificate was rejected, as a message for users.
  // Empty if none was rejected since the last call.
  std::string TakeError() EXCLUDES(mu_);

  // Returns the name that the server's certificate must have.
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

// Returns true for "127.0.0.1", "::1", "[::1]".
bool IsIpAddress(const std::string& host);

}  // namespace minisched
