#pragma once

#include <memory>
#include <string>

#include "minisched/base/mutex.h"
#include "minisched/client/rest_config.h"

struct ssl_ctx_st;         // OpenSSL's SSL_CTX
struct x509_store_ctx_st;  // OpenSSL's X509_STORE_CTX

namespace minisched {

// Whom a connection trusts and how it identifies itself. Thread-safe.
class Tls {
 public:
  // `host` is the host of the server's URL. Throws ConfigError where the
  // certificates or the key can't be used.
  Tls(const RestConfig& config, std::string host);
  ~Tls();

  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  // Sets up the context of one new connection, which must not outlive this.
  void Configure(ssl_ctx_st* context);

  // Why the last certificate was refused, in words for a user; empty where
  // none was since the last call.
  std::string TakeError() EXCLUDES(mu_);

  // The name that the server's certificate must carry.
  const std::string& server_name() const { return server_name_; }

 private:
  struct Material;

  int Verify(x509_store_ctx_st* chain) EXCLUDES(mu_);

  const std::string server_name_;
  const bool verify_;
  std::unique_ptr<Material> material_;

  Mutex mu_;
  std::string error_ GUARDED_BY(mu_);
};

// True for "127.0.0.1", "::1", "[::1]".
bool IsIpAddress(const std::string& host);

}  // namespace minisched
