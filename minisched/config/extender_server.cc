#include "minisched/config/extender_server.h"

#include <chrono>
#include <cstddef>
#include <string>

#include "minisched/client/config_files.h"
#include "minisched/client/pem.h"

namespace minisched {
namespace {

// Parsed JSON takes several times as much memory as its text.
constexpr std::size_t kMaxAnswerBytes = std::size_t{64} << 20;

// Returns the data, or else the contents of the file, or else "".
std::string Load(const Base64& data, const std::string& file,
                 const std::string& where) {
  if (!data.text.empty()) return DecodeBase64(data.text).value();
  if (file.empty()) return "";
  return ReadFile(file, where + ": " + file);
}

}  // namespace

RestConfig ExtenderServer(const ExtenderConfig& extender) {
  RestConfig server;
  server.server = extender.url_prefix;
  server.server.erase(server.server.find_last_not_of('/') + 1);
  server.source = "extender " + extender.url_prefix;
  server.qps = 0;
  server.max_in_flight = 0;
  server.max_response_bytes = kMaxAnswerBytes;
  server.request_timeout =
      std::chrono::ceil<std::chrono::milliseconds>(extender.http_timeout);
  server.connect_timeout = server.request_timeout;
  if (!extender.tls_config) return server;
  const ExtenderTlsConfig& tls = *extender.tls_config;
  server.insecure_skip_tls_verify = tls.insecure;
  server.tls_server_name = tls.server_name;
  server.ca_data = Load(tls.ca_data, tls.ca_file, server.source + ": caFile");
  server.client_certificate_data =
      Load(tls.cert_data, tls.cert_file, server.source + ": certFile");
  server.client_key_data =
      Load(tls.key_data, tls.key_file, server.source + ": keyFile");
  return server;
}

}  // namespace minisched
