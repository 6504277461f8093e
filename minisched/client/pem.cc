#include "minisched/client/pem.h"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <climits>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "minisched/client/errors.h"

namespace minisched {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_ENCODE_CTX* context) const {
    EVP_ENCODE_CTX_free(context);
  }
};
using BioPtr = std::unique_ptr<BIO, Free>;

// Clears OpenSSL's error queue, which each thread has. An error left there by a
// failed check would look like an error of the thread's next TLS call.
class ErrorQueueGuard {
 public:
  ErrorQueueGuard() { ERR_clear_error(); }
  ~ErrorQueueGuard() { ERR_clear_error(); }
  ErrorQueueGuard(const ErrorQueueGuard&) = delete;
  ErrorQueueGuard& operator=(const ErrorQueueGuard&) = delete;
};

[[noreturn]] void Fail(const Pem& pem, const std::string& problem) {
  throw ConfigError(pem.where + ": " + problem);
}

// Returns a view of pem.text, which must outlive the view.
BioPtr OpenBio(const Pem& pem) {
  if (pem.text.size() > INT_MAX) Fail(pem, "too long");
  return BioPtr(
      BIO_new_mem_buf(pem.text.data(), static_cast<int>(pem.text.size())));
}

// Returns true if the last error means that there is no further PEM block,
// rather than a broken one.
bool AtEnd() {
  const unsigned long error = ERR_peek_last_error();
  return ERR_GET_LIB(error) == ERR_LIB_PEM &&
         ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

// Returns the next certificate; null at the end.
CertificatePtr ReadCertificate(const Pem& pem, BIO* bio) {
  CertificatePtr certificate(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr));
  if (!certificate && !AtEnd()) Fail(pem, "a certificate is malformed");
  return certificate;
}

// Called for an encrypted key. Without this function OpenSSL would ask for the
// passphrase on the terminal.
int RefusePassphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

void CheckDates(const Pem& pem, const X509* certificate, std::time_t now) {
  const ASN1_TIME* not_before = X509_get0_notBefore(certificate);
  const ASN1_TIME* not_after = X509_get0_notAfter(certificate);
  if (ASN1_TIME_check(not_before) != 1 || ASN1_TIME_check(not_after) != 1) {
    Fail(pem, "the certificate's dates are broken");
  }
  if (ASN1_TIME_cmp_time_t(not_before, now) > 0) {
    Fail(pem,
         "the certificate is not valid before " + FormatAsn1Time(not_before));
  }
  if (ASN1_TIME_cmp_time_t(not_after, now) < 0) {
    Fail(pem, "the certificate expired at " + FormatAsn1Time(not_after));
  }
}

}  // namespace

void FreeOpenssl::operator()(x509_st* certificate) const {
  X509_free(certificate);
}

void FreeOpenssl::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }

std::vector<CertificatePtr> ReadCertificates(const Pem& pem) {
  const ErrorQueueGuard guard;
  const BioPtr bio = OpenBio(pem);
  std::vector<CertificatePtr> certificates;
  while (CertificatePtr certificate = ReadCertificate(pem, bio.get())) {
    certificates.push_back(std::move(certificate));
  }
  if (certificates.empty()) Fail(pem, "no PEM certificate found");
  return certificates;
}

KeyPtr ReadKey(const Pem& pem) {
  const ErrorQueueGuard guard;
  const BioPtr bio = OpenBio(pem);
  bool encrypted = false;
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, RefusePassphrase,
                                     &encrypted));
  if (encrypted) Fail(pem, "the key is encrypted, which is not supported");
  if (!key) Fail(pem, "no readable PEM private key found");
  return key;
}

std::string FormatAsn1Time(const ASN1_TIME* time) {
  std::tm parts{};
  ASN1_TIME_to_tm(time, &parts);
  char text[sizeof "2006-01-02T15:04:05Z"];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::optional<std::string> DecodeBase64(const std::string& text) {
  // OpenSSL takes '-' for the end of the data, as in PEM's last line.
  if (text.size() > INT_MAX || text.find('-') != std::string::npos) {
    return std::nullopt;
  }
  const ErrorQueueGuard guard;
  const std::unique_ptr<EVP_ENCODE_CTX, Free> context(EVP_ENCODE_CTX_new());
  EVP_DecodeInit(context.get());
  // Three bytes for four characters, and room for one more block.
  std::vector<unsigned char> out(text.size() / 4 * 3 + 64);
  int size = 0;
  int rest = 0;
  if (EVP_DecodeUpdate(context.get(), out.data(), &size,
                       reinterpret_cast<const unsigned char*>(text.data()),
                       static_cast<int>(text.size())) < 0 ||
      EVP_DecodeFinal(context.get(), out.data() + size, &rest) < 0) {
    return std::nullopt;
  }
  return std::string(out.begin(), out.begin() + size + rest);
}

void CheckClientCertificate(const Pem& certificate, const Pem& key,
                            std::chrono::system_clock::time_point now) {
  const std::vector<CertificatePtr> chain = ReadCertificates(certificate);
  const KeyPtr private_key = ReadKey(key);
  const ErrorQueueGuard guard;
  if (X509_check_private_key(chain.front().get(), private_key.get()) != 1) {
    Fail(key, "the key does not belong to the client certificate");
  }
  CheckDates(certificate, chain.front().get(),
             std::chrono::system_clock::to_time_t(now));
}

}  // namespace minisched
