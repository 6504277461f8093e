#pragma once

#include <optional>
#include <string>

#include "minisched/base/clock.h"
#include "minisched/client/rest_config.h"

namespace minisched {

// The ExecCredential object, which a client and a program that prints
// credentials exchange. Follows client-go's pkg/apis/clientauthentication.

// What the program prints: the object's status.
struct ExecCredential {
  std::string token;
  // PEM: both or none.
  std::string client_certificate_data;
  std::string client_key_data;
  // When the credentials expire; nullopt: never.
  std::optional<Clock::WallTime> expiration;
};

// Returns $KUBERNETES_EXEC_INFO for the program of config.exec.
std::string ExecInfo(const RestConfig& config);

// Parses what the program has printed. Throws ParseError without secrets, for
// example if there is neither a token nor a certificate with its key, or if it
// is of another API version. Does not check certificate and key.
ExecCredential ParseExecCredential(const std::string& text,
                                   const std::string& api_version);

}  // namespace minisched
