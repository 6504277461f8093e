#include "minisched/client/transport_errors.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <cerrno>
#include <sstream>
#include <system_error>
#include <utility>

namespace minisched {
namespace {

using Kind = TransportError::Kind;
using Step = Connection::Error::Step;

unsigned long OpenSslCode(int code) { return static_cast<unsigned int>(code); }

// Returns true for OpenSSL's errors. Those of others are small numbers.
bool IsOpenSsl(int code) { return ERR_GET_LIB(OpenSslCode(code)) != 0; }

// Returns true for this error of TLS.
bool IsTlsReason(int code, int reason) {
  return ERR_GET_LIB(OpenSslCode(code)) == ERR_LIB_SSL &&
         ERR_GET_REASON(OpenSslCode(code)) == reason;
}

// Returns true if the peer has sent an alert, which rejects us.
bool IsAlert(int code) {
  return ERR_GET_LIB(OpenSslCode(code)) == ERR_LIB_SSL &&
         ERR_GET_REASON(OpenSslCode(code)) > SSL_AD_REASON_OFFSET;
}

// Returns true if a connection that was made was closed by the server.
bool IsClosed(int code) {
  return code == boost::asio::error::eof ||
         code == boost::asio::ssl::error::stream_truncated ||
         code == ECONNABORTED ||  // for cpprestsdk, the end before the headers
         code == EHOSTUNREACH ||  // for cpprestsdk, EPIPE
         IsTlsReason(code, SSL_R_UNEXPECTED_EOF_WHILE_READING);
}

std::string Describe(int code) {
  const char* const reason =
      IsOpenSsl(code) ? ERR_reason_error_string(OpenSslCode(code)) : nullptr;
  return reason != nullptr ? reason : std::generic_category().message(code);
}

}  // namespace

TransportErrors::TransportErrors(std::string server, std::size_t max_response)
    : server_(std::move(server)), max_response_(max_response) {}

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

TransportError TransportErrors::ResponseTooLarge() const {
  return TooLarge("the response is larger than ", max_response_);
}

TransportError TransportErrors::NoSuchHost() const {
  return Make(Kind::kConnect, "no such host");
}

TransportError TransportErrors::Explain(const Connection::Error& error,
                                        int status) const {
  switch (error.step) {
    case Step::kConnect:
      // cpprestsdk reports both with the same code.
      return Make(Kind::kConnect,
                  error.code == EHOSTUNREACH
                      ? "connection refused, or no route to the server"
                      : Describe(error.code));
    case Step::kHandshake:
      return ExplainHandshake(error);
    case Step::kReuse:
    case Step::kExchange:
      return ExplainExchange(error.code, status);
    case Step::kOther:
      break;
  }
  return Other(error.message);
}

TransportError TransportErrors::ExplainHandshake(
    const Connection::Error& error) const {
  if (!error.message.empty()) return Make(Kind::kTls, error.message);
  if (!IsOpenSsl(error.code) || IsClosed(error.code)) {
    return Make(Kind::kConnect, "connection closed during the TLS handshake");
  }
  return Make(Kind::kTls,
              IsTlsReason(error.code, SSL_R_WRONG_VERSION_NUMBER)
                  ? "the server does not speak TLS; is it an http:// one?"
                  : "TLS handshake failed: " + Describe(error.code));
}

TransportError TransportErrors::ExplainExchange(int code, int status) const {
  // With TLS 1.3 the server sees our certificate after the handshake.
  if (IsAlert(code)) {
    return Make(Kind::kTls, "TLS handshake failed: " + Describe(code));
  }
  if (code == 0) {
    return Make(Kind::kProtocol,
                status != 0 ? "malformed response" : "does not speak HTTP");
  }
  return Make(Kind::kLost,
              "connection lost: " +
                  (IsClosed(code) ? "the server closed it" : Describe(code)));
}

TransportError TransportErrors::Other(const std::string& message) const {
  return Make(Kind::kProtocol, message);
}

TransportError TransportErrors::Make(TransportError::Kind kind,
                                     const std::string& message) const {
  return {kind, server_ + ": " + message};
}

}  // namespace minisched
