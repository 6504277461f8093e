#include "minisched/client/tls.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <utility>
#include <vector>

#include "minisched/client/errors.h"
#include "minisched/client/pem.h"

// Replaces OpenSSL's function in the whole program. cpprestsdk calls it for
// each connection, before the context is replaced by that of a Tls. OpenSSL's
// function would read all of the system's authorities, which takes 30 to 40 ms
// of CPU time on the I/O thread. No setting of cpprestsdk prevents this. With
// the function of OpenSSL, a hundred connections would take three seconds; with
// $SSL_CERT_FILE set to an empty file, all child processes would need the old
// value. If another library calls this function, it trusts no authority.
extern "C" int SSL_CTX_set_default_verify_paths(SSL_CTX* /*context*/) {
  return 1;
}

namespace minisched {
namespace {

std::string SubjectOf(const X509* certificate) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bio(BIO_new(BIO_s_mem()), BIO_free);
  X509_NAME_print_ex(bio.get(), X509_get_subject_name(certificate), 0,
                     XN_FLAG_RFC2253);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

// Returns a message for users about a rejected certificate.
std::string Explain(X509_STORE_CTX* chain, const std::string& server_name) {
  const int error = X509_STORE_CTX_get_error(chain);
  const X509* certificate = X509_STORE_CTX_get_current_cert(chain);
  const std::string subject =
      certificate == nullptr ? "" : " \"" + SubjectOf(certificate) + "\"";
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the server's certificate" + subject + " expired on " +
             FormatAsn1Time(X509_get0_notAfter(certificate));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the server's certificate" + subject + " is not valid before " +
             FormatAsn1Time(X509_get0_notBefore(certificate));
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "the server's certificate" + subject + " is not for " +
             server_name + "; set tls-server-name to expect another name";
    default:
      return "the server's certificate" + subject +
             " is not signed by the configured certificate authority (" +
             X509_verify_cert_error_string(error) + ")";
  }
}

// Returns the index of the pointer to the TlsHandshake in an SSL's extra data.
int HandshakeIndex() {
  static const int index =
      SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

TlsHandshake& HandshakeOf(const SSL* connection) {
  return *static_cast<TlsHandshake*>(
      SSL_get_ex_data(connection, HandshakeIndex()));
}

void RecordBegin(const SSL* connection, int event, int /*result*/) {
  if (event & SSL_CB_HANDSHAKE_START) HandshakeOf(connection).has_begun = true;
}

// Verifies the server's certificate, instead of OpenSSL, which gives no reason.
// Returns 1 if the certificate is trusted, else 0. `name` points to the
// std::string with the name that the certificate must have.
int Verify(X509_STORE_CTX* chain, void* name) {
  const auto& server_name = *static_cast<const std::string*>(name);
  X509_VERIFY_PARAM* param = X509_STORE_CTX_get0_param(chain);
  if (IsIpAddress(server_name)) {
    X509_VERIFY_PARAM_set1_ip_asc(param, server_name.c_str());
  } else {
    X509_VERIFY_PARAM_set1_host(param, server_name.c_str(), 0);
  }
  X509_STORE_CTX_set_verify_cb(chain,
                               [](int ok, X509_STORE_CTX*) { return ok; });
  if (X509_verify_cert(chain) == 1) return 1;
  const auto* connection = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  HandshakeOf(connection).refusal = Explain(chain, server_name);
  return 0;
}

int AcceptAny(X509_STORE_CTX* /*chain*/, void* /*name*/) { return 1; }

// Returns the system's trusted authorities. Reads them at the first call.
X509_STORE* SystemStore() {
  // Never destroyed, because the I/O thread may use it while the program exits.
  static X509_STORE* const store = [] {
    X509_STORE* const trusted = X509_STORE_new();
    X509_STORE_set_default_paths(trusted);
    ERR_clear_error();  // a system without authorities trusts none
    return trusted;
  }();
  return store;
}

std::string WithoutBrackets(std::string host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    return host.substr(1, host.size() - 2);
  }
  return host;
}

// Returns the authorities that the configuration trusts.
std::shared_ptr<X509_STORE> ReadAuthorities(const RestConfig& config) {
  const std::shared_ptr<X509_STORE> trusted(X509_STORE_new(), X509_STORE_free);
  for (const CertificatePtr& authority : ReadCertificates(
           {config.ca_data, config.source + ": certificate-authority"})) {
    X509_STORE_add_cert(trusted.get(), authority.get());
  }
  return trusted;
}

// Adds the client's certificates and key to the context. Returns false if
// OpenSSL refuses one, because it is too weak for the security level.
bool AddClient(SSL_CTX* context,
               const std::vector<CertificatePtr>& certificates, EVP_PKEY* key) {
  if (SSL_CTX_use_certificate(context, certificates.front().get()) != 1) {
    return false;
  }
  for (std::size_t i = 1; i < certificates.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, certificates[i].get()) != 1) {
      return false;
    }
  }
  return SSL_CTX_use_PrivateKey(context, key) == 1;
}

// Adds the client's certificates and key from the configuration to the context.
// Throws ConfigError if they can't be read or used.
void ReadClient(const RestConfig& config, SSL_CTX* context) {
  const auto certificates = ReadCertificates(
      {config.client_certificate_data, config.source + ": client-certificate"});
  const KeyPtr key =
      ReadKey({config.client_key_data, config.source + ": client-key"});
  if (X509_check_private_key(certificates.front().get(), key.get()) != 1) {
    ERR_clear_error();
    throw ConfigError(config.source + ": client-key: the key does not belong " +
                      "to the client certificate");
  }
  if (!AddClient(context, certificates, key.get())) {
    const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    throw ConfigError(config.source + ": client-certificate: " +
                      (reason == nullptr ? "refused by OpenSSL" : reason));
  }
}

}  // namespace

bool IsIpAddress(const std::string& host) {
  in6_addr address;
  const std::string bare = WithoutBrackets(host);
  return inet_pton(AF_INET, bare.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, bare.c_str(), &address) == 1;
}

Tls::Tls(const RestConfig& config, const ServerAddress& server)
    : server_name_(config.tls_server_name.empty() ? server.host
                                                  : config.tls_server_name),
      context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
  SSL_CTX_set_min_proto_version(context(), TLS1_2_VERSION);
  const bool verifies = !config.insecure_skip_tls_verify;
  if (!config.ca_data.empty()) {
    const auto trusted = ReadAuthorities(config);
    SSL_CTX_set1_cert_store(context(), trusted.get());
  } else if (verifies && server.is_https) {
    SSL_CTX_set1_cert_store(context(), SystemStore());
  }
  SSL_CTX_set_info_callback(context(), RecordBegin);
  // cpprestsdk verifies in any case, by its own rules. This replaces them.
  SSL_CTX_set_cert_verify_callback(context(), verifies ? Verify : AcceptAny,
                                   const_cast<std::string*>(&server_name_));
  if (!config.client_certificate_data.empty()) ReadClient(config, context());
}

void Tls::Prepare(ssl_st* connection, TlsHandshake* handshake) const {
  SSL_set_ex_data(connection, HandshakeIndex(), handshake);
  if (!IsIpAddress(server_name_)) {
    SSL_set_tlsext_host_name(connection, server_name_.c_str());
  }
}

}  // namespace minisched
