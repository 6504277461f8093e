#include "minisched/client/transport_errors.h"

#include <cpprest/http_msg.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <sstream>
#include <system_error>
#include <utility>

namespace minisched {
namespace {

using Kind = TransportError::Kind;

// cpprestsdk passes OpenSSL's codes as int.
unsigned long ToOpenSslCode(int code) {
  return static_cast<unsigned long>(static_cast<unsigned int>(code));
}

// Returns true if the handshake failed because the connection ended, and not
// because one side rejected the other. The error code of a socket is a small
// number, which has no number of an OpenSSL library in its upper bits.
bool IsConnectionEnd(int code) {
  const unsigned long error = ToOpenSslCode(code);
  return ERR_GET_LIB(error) == 0 ||
         (ERR_GET_LIB(error) == ERR_LIB_SSL &&
          ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING);
}

}  // namespace

TransportErrors::TransportErrors(std::string server, Tls& tls)
    : server_(std::move(server)), tls_(tls) {}

TransportError TransportErrors::Late(const std::string& what,
                                     std::chrono::milliseconds limit) const {
  std::ostringstream message;
  message << what << " within " << std::chrono::duration<double>(limit).count()
          << " s";
  return Make(Kind::kTimeout, message.str());
}

TransportError TransportErrors::TooLarge(const std::string& what,
                                         std::size_t limit) const {
  const std::size_t kib = limit / 1024;
  return Make(Kind::kProtocol,
              what + (kib < 1024 ? std::to_string(kib) + " KiB"
                                 : std::to_string(kib / 1024) + " MiB"));
}

ClientError TransportErrors::Explain(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const web::http::http_exception& error) {
    return ClientError(Translate(error.what(), error.error_code().value()));
  } catch (const TransportError& error) {
    return ClientError(error);
  } catch (const std::exception& error) {
    return ClientError(Make(Kind::kProtocol, error.what()));
  }
}

TransportError TransportErrors::Make(Kind kind,
                                     const std::string& message) const {
  return {kind, server_ + ": " + message};
}

// cpprestsdk's message is the only source for what has failed. The reason may
// be in `code`, whose category is lost.
TransportError TransportErrors::Translate(std::string_view what, int code) {
  if (what.starts_with("Error in SSL handshake")) {
    if (IsConnectionEnd(code)) {
      return Make(Kind::kConnect, "connection closed during the TLS handshake");
    }
    return Make(Kind::kTls, ExplainHandshake(code));
  }
  if (what.starts_with("Error resolving address") ||
      what.starts_with("Failed to resolve address")) {
    return Make(Kind::kConnect, "no such host");
  }
  if (what.starts_with("Failed to connect")) {
    // cpprestsdk also reports "refused" as "unreachable".
    return Make(Kind::kConnect,
                code == static_cast<int>(std::errc::host_unreachable)
                    ? "connection refused, or no route to it"
                    : std::generic_category().message(code));
  }
  if (what.starts_with("Invalid HTTP status line")) {
    return Make(Kind::kProtocol, "does not speak HTTP");
  }
  // With TLS 1.3 the server sees our certificate after the handshake.
  const unsigned long error = ToOpenSslCode(code);
  if (ERR_GET_LIB(error) == ERR_LIB_SSL &&
      ERR_GET_REASON(error) > SSL_AD_REASON_OFFSET) {
    return Make(Kind::kTls, ExplainHandshake(code));
  }
  return Make(Kind::kLost, "connection lost: " + std::string(what));
}

std::string TransportErrors::ExplainHandshake(int code) {
  std::string refused = tls_.TakeError();
  if (!refused.empty()) return refused;
  const unsigned long error = ToOpenSslCode(code);
  if (ERR_GET_LIB(error) == ERR_LIB_SSL &&
      ERR_GET_REASON(error) == SSL_R_WRONG_VERSION_NUMBER) {
    return "the server does not speak TLS; is it an http:// one?";
  }
  const char* reason = ERR_reason_error_string(error);
  return std::string("TLS handshake failed: ") +
         (reason == nullptr ? "error " + std::to_string(code) : reason);
}

}  // namespace minisched
