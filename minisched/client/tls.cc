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
// each connection, and OpenSSL's function reads all of the system's trusted
// authorities, which takes 30 ms. Tls::Configure() sets the authorities
// instead.
extern "C" int SSL_CTX_set_default_verify_paths(SSL_CTX*) { return 1; }

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

// Returns the index of the Tls in an SSL_CTX's extra data. The app data can't
// be used, because asio owns it.
int ContextIndex() {
  static const int index =
      SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

// Called when a handshake starts. Adds the server's name to it (SNI).
void SendServerName(const SSL* ssl, int where, int) {
  if ((where & SSL_CB_HANDSHAKE_START) == 0) return;
  const auto* tls = static_cast<const Tls*>(
      SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), ContextIndex()));
  SSL_set_tlsext_host_name(const_cast<SSL*>(ssl), tls->server_name().c_str());
}

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

}  // namespace

struct Tls::Material {
  std::shared_ptr<X509_STORE> trusted;  // null: SystemStore()
  std::vector<CertificatePtr> certificates;
  KeyPtr key;

  // Adds the client's certificates and key to the context. Returns false if
  // OpenSSL refuses one, because it is too weak for the security level.
  bool AddTo(SSL_CTX* context) const {
    if (!key) return true;
    if (SSL_CTX_use_certificate(context, certificates.front().get()) != 1) {
      return false;
    }
    for (std::size_t i = 1; i < certificates.size(); ++i) {
      if (SSL_CTX_add1_chain_cert(context, certificates[i].get()) != 1) {
        return false;
      }
    }
    return SSL_CTX_use_PrivateKey(context, key.get()) == 1;
  }
};

bool IsIpAddress(const std::string& host) {
  in6_addr address;
  const std::string bare = WithoutBrackets(host);
  return inet_pton(AF_INET, bare.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, bare.c_str(), &address) == 1;
}

Tls::Tls(const RestConfig& config, std::string host)
    : server_name_(config.tls_server_name.empty()
                       ? WithoutBrackets(std::move(host))
                       : config.tls_server_name),
      verify_(!config.insecure_skip_tls_verify),
      material_(std::make_unique<Material>()) {
  if (!config.ca_data.empty()) {
    material_->trusted.reset(X509_STORE_new(), X509_STORE_free);
    for (const CertificatePtr& authority : ReadCertificates(
             {config.ca_data, config.source + ": certificate-authority"})) {
      X509_STORE_add_cert(material_->trusted.get(), authority.get());
    }
  }
  if (config.client_certificate_data.empty()) return;
  material_->certificates = ReadCertificates(
      {config.client_certificate_data, config.source + ": client-certificate"});
  material_->key =
      ReadKey({config.client_key_data, config.source + ": client-key"});
  if (X509_check_private_key(material_->certificates.front().get(),
                             material_->key.get()) != 1) {
    ERR_clear_error();
    throw ConfigError(config.source + ": client-key: the key does not belong " +
                      "to the client certificate");
  }
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> trial(
      SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (!material_->AddTo(trial.get())) {
    const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    throw ConfigError(config.source + ": client-certificate: " +
                      (reason == nullptr ? "refused by OpenSSL" : reason));
  }
}

Tls::~Tls() = default;

void Tls::Configure(ssl_ctx_st* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_ex_data(context, ContextIndex(), this);
  if (!IsIpAddress(server_name_)) {
    SSL_CTX_set_info_callback(context, SendServerName);
  }
  if (verify_) {
    // Replaces the HTTP library's check, which supports no other server name
    // and gives no reason.
    SSL_CTX_set_cert_verify_callback(
        context,
        [](X509_STORE_CTX* chain, void* self) {
          return static_cast<Tls*>(self)->Verify(chain);
        },
        this);
    SSL_CTX_set1_cert_store(
        context, material_->trusted ? material_->trusted.get() : SystemStore());
  }
  material_->AddTo(context);  // as in the constructor, so it succeeds
}

int Tls::Verify(x509_store_ctx_st* chain) {
  X509_VERIFY_PARAM* param = X509_STORE_CTX_get0_param(chain);
  if (IsIpAddress(server_name_)) {
    X509_VERIFY_PARAM_set1_ip_asc(param, server_name_.c_str());
  } else {
    X509_VERIFY_PARAM_set1_host(param, server_name_.c_str(), 0);
  }
  X509_STORE_CTX_set_verify_cb(chain,
                               [](int ok, X509_STORE_CTX*) { return ok; });
  if (X509_verify_cert(chain) == 1) return 1;
  MutexLock lock(mu_);
  error_ = Explain(chain, server_name_);
  return 0;
}

std::string Tls::TakeError() {
  MutexLock lock(mu_);
  return std::exchange(error_, "");
}

}  // namespace minisched
