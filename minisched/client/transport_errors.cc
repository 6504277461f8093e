#include "minisched/client/transport_errors.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/http/error.hpp>
#include <sstream>
#include <utility>

#include "minisched/client/response_parser.h"

namespace minisched {
namespace {

using boost::system::error_code;
using HttpError = boost::beast::http::error;
using Kind = TransportError::Kind;

// Returns OpenSSL's code; 0 if the error is not OpenSSL's.
unsigned long OpenSslCode(error_code error) {
  if (error.category() != boost::asio::error::get_ssl_category()) return 0;
  return static_cast<unsigned long>(static_cast<unsigned int>(error.value()));
}

bool IsHttpError(error_code error) {
  return error.category() == error_code(HttpError::bad_version).category();
}

// Returns true if the handshake failed because the connection ended, and not
// because one side rejected the other.
bool IsConnectionEnd(error_code error) {
  const unsigned long code = OpenSslCode(error);
  return code == 0 ||
         (ERR_GET_LIB(code) == ERR_LIB_SSL &&
          ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING);
}

// Returns true if the peer has sent an alert, which rejects us.
bool IsAlert(error_code error) {
  const unsigned long code = OpenSslCode(error);
  return ERR_GET_LIB(code) == ERR_LIB_SSL &&
         ERR_GET_REASON(code) > SSL_AD_REASON_OFFSET;
}

std::string ExplainHandshake(error_code error) {
  const unsigned long code = OpenSslCode(error);
  if (ERR_GET_LIB(code) == ERR_LIB_SSL &&
      ERR_GET_REASON(code) == SSL_R_WRONG_VERSION_NUMBER) {
    return "the server does not speak TLS; is it an http:// one?";
  }
  const char* const reason = ERR_reason_error_string(code);
  return "TLS handshake failed: " +
         (reason == nullptr ? error.message() : reason);
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

TransportError TransportErrors::NotConnected(Connection::Step step,
                                             error_code error,
                                             const std::string& refusal) const {
  switch (step) {
    case Connection::Step::kResolve:
      return Make(Kind::kConnect, "no such host");
    case Connection::Step::kConnect:
      return Make(Kind::kConnect,
                  error == boost::asio::error::connection_refused
                      ? "connection refused"
                      : error.message());
    case Connection::Step::kHandshake:
      break;
  }
  if (!refusal.empty()) return Make(Kind::kTls, refusal);
  return IsConnectionEnd(error)
             ? Make(Kind::kConnect,
                    "connection closed during the TLS handshake")
             : Make(Kind::kTls, ExplainHandshake(error));
}

TransportError TransportErrors::NotReceived(error_code error,
                                            int status) const {
  if (error == HttpError::body_limit) return ResponseTooLarge();
  if (error == HttpError::header_limit) {
    return TooLarge("the headers of the response are larger than ",
                    kMaxHeadBytes);
  }
  // With TLS 1.3 the server sees our certificate after the handshake.
  if (IsAlert(error)) return Make(Kind::kTls, ExplainHandshake(error));
  if (error == HttpError::end_of_stream ||
      error == HttpError::partial_message) {
    return Make(Kind::kLost, "connection lost: the server closed it");
  }
  if (!IsHttpError(error)) {
    return Make(Kind::kLost, "connection lost: " + error.message());
  }
  return Make(Kind::kProtocol, status != 0
                                   ? "malformed response: " + error.message()
                                   : "does not speak HTTP");
}

TransportError TransportErrors::Other(const std::exception& error) const {
  return Make(Kind::kProtocol, error.what());
}

TransportError TransportErrors::Make(Kind kind,
                                     const std::string& message) const {
  return {kind, server_ + ": " + message};
}

}  // namespace minisched
