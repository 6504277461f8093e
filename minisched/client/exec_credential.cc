#include "minisched/client/exec_credential.h"

#include <yaml-cpp/binary.h>

#include <nlohmann/json.hpp>

#include "minisched/api/parse_error.h"
#include "minisched/api/time.h"
#include "minisched/client/config_files.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

using Json = nlohmann::json;

constexpr char kKind[] = "ExecCredential";

Json ClusterInfo(const RestConfig& config) {
  Json cluster = {{"server", config.server}, {"config", nullptr}};
  if (!config.tls_server_name.empty()) {
    cluster["tls-server-name"] = config.tls_server_name;
  }
  if (config.insecure_skip_tls_verify) {
    cluster["insecure-skip-tls-verify"] = true;
  }
  if (!config.ca_data.empty()) {
    cluster["certificate-authority-data"] = YAML::EncodeBase64(
        reinterpret_cast<const unsigned char*>(config.ca_data.data()),
        config.ca_data.size());
  }
  if (!config.exec->cluster_config.empty()) {
    cluster["config"] = Json::parse(config.exec->cluster_config);
  }
  return cluster;
}

// Returns a string member of `object`; "" if it is absent or null. `path` is
// the member's name in messages, which must not quote values: they may be
// secrets.
std::string StringMember(const Json& object, const std::string& key,
                         const std::string& path) {
  if (!object.contains(key) || object[key].is_null()) return "";
  if (!object[key].is_string()) throw ParseError(path + key + " is no string");
  return object[key].get<std::string>();
}

// Returns the object that was printed. Throws ParseError unless it is an
// ExecCredential of this version.
Json ParseObject(const std::string& text, const std::string& api_version) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw ParseError("the output is empty");
  }
  // Without exceptions, because they quote the text.
  Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) throw ParseError("the output is no JSON object");
  const std::string kind = StringMember(object, "kind", "");
  if (kind != kKind) {
    throw ParseError("kind is " + Quoted(kind) + ", not " + Quoted(kKind));
  }
  const std::string version = StringMember(object, "apiVersion", "");
  if (version != api_version) {
    throw ParseError("apiVersion is " + Quoted(version) +
                     ", but the kubeconfig has " + Quoted(api_version));
  }
  return object;
}

std::optional<Clock::WallTime> ParseExpiration(const std::string& text) {
  if (text.empty()) return std::nullopt;
  try {
    return ParseTime(text);
  } catch (const ParseError&) {
    throw ParseError(
        "status.expirationTimestamp is not RFC 3339, such as "
        "\"2026-11-21T10:00:00Z\"");
  }
}

}  // namespace

std::string ExecInfo(const RestConfig& config) {
  Json info = {{"apiVersion", config.exec->api_version},
               {"kind", kKind},
               {"spec", {{"interactive", false}}}};
  if (config.exec->provide_cluster_info) {
    info["spec"]["cluster"] = ClusterInfo(config);
  }
  return info.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ExecCredential ParseExecCredential(const std::string& text,
                                   const std::string& api_version) {
  const Json object = ParseObject(text, api_version);
  if (!object.contains("status") || !object["status"].is_object()) {
    throw ParseError("there is no status");
  }
  const auto status = [&object](const std::string& key) {
    return StringMember(object["status"], key, "status.");
  };
  ExecCredential credential{
      .token = status("token"),
      .client_certificate_data = status("clientCertificateData"),
      .client_key_data = status("clientKeyData"),
      .expiration = ParseExpiration(status("expirationTimestamp"))};
  const bool has_certificate = !credential.client_certificate_data.empty();
  const bool has_key = !credential.client_key_data.empty();
  if (credential.token.empty() && !has_certificate && !has_key) {
    throw ParseError("status has neither a token nor a client certificate");
  }
  if (has_certificate && !has_key) {
    throw ParseError("status has a clientCertificateData but no clientKeyData");
  }
  if (has_key && !has_certificate) {
    throw ParseError("status has a clientKeyData but no clientCertificateData");
  }
  if (!credential.token.empty()) {
    try {
      credential.token = ParseToken(credential.token, "status.token");
    } catch (const ConfigError& error) {
      throw ParseError(error.what());
    }
  }
  return credential;
}

}  // namespace minisched
