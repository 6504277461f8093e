#include "testing/pem.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>

namespace minisched {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_EXTENSION* ext) const { X509_EXTENSION_free(ext); }
};
using BioPtr = std::unique_ptr<BIO, Free>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Free>;
using CertificatePtr = std::unique_ptr<X509, Free>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, Free>;

void Check(bool ok) {
  if (ok) return;
  ERR_print_errors_fp(stderr);
  std::abort();
}

BioPtr NewBio() { return BioPtr(BIO_new(BIO_s_mem())); }

BioPtr NewBio(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string Contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<std::size_t>(size));
}

KeyPtr ParseKey(const std::string& pem) {
  KeyPtr key(
      PEM_read_bio_PrivateKey(NewBio(pem).get(), nullptr, nullptr, nullptr));
  Check(key != nullptr);
  return key;
}

CertificatePtr ParseCertificate(const std::string& pem) {
  CertificatePtr certificate(
      PEM_read_bio_X509(NewBio(pem).get(), nullptr, nullptr, nullptr));
  Check(certificate != nullptr);
  return certificate;
}

std::string ToPem(EVP_PKEY* key) {
  const BioPtr bio = NewBio();
  Check(PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0,
                                      nullptr, nullptr) == 1);
  return Contents(bio.get());
}

std::string ToPem(X509* certificate) {
  const BioPtr bio = NewBio();
  Check(PEM_write_bio_X509(bio.get(), certificate) == 1);
  return Contents(bio.get());
}

void AddName(X509* certificate, const char* field, const std::string& value) {
  Check(X509_NAME_add_entry_by_txt(
            X509_get_subject_name(certificate), field, MBSTRING_UTF8,
            reinterpret_cast<const unsigned char*>(value.data()),
            static_cast<int>(value.size()), -1, 0) == 1);
}

void AddExtension(X509* certificate, X509* issuer, int id,
                  const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension(
      X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str()));
  Check(extension != nullptr);
  Check(X509_add_ext(certificate, extension.get(), -1) == 1);
}

// Makes a certificate that still lacks the issuer's name, the extensions and
// the signature.
CertificatePtr NewCertificate(const TestSubject& subject, EVP_PKEY* key) {
  CertificatePtr certificate(X509_new());
  X509* const x509 = certificate.get();
  Check(X509_set_version(x509, X509_VERSION_3) == 1);
  std::uint32_t serial = 0;
  Check(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) ==
        1);
  Check(ASN1_INTEGER_set_uint64(X509_get_serialNumber(x509), serial) == 1);
  for (const std::string& organization : subject.organizations) {
    AddName(x509, "O", organization);
  }
  AddName(x509, "CN", subject.common_name);
  Check(ASN1_TIME_set(X509_getm_notBefore(x509),
                      std::chrono::system_clock::to_time_t(
                          subject.not_before)) != nullptr);
  Check(ASN1_TIME_set(X509_getm_notAfter(x509),
                      std::chrono::system_clock::to_time_t(
                          subject.not_after)) != nullptr);
  Check(X509_set_pubkey(x509, key) == 1);
  return certificate;
}

void Sign(X509* certificate, X509* issuer, EVP_PKEY* issuer_key) {
  AddExtension(certificate, issuer, NID_subject_key_identifier, "hash");
  AddExtension(certificate, issuer, NID_authority_key_identifier, "keyid");
  Check(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1);
  Check(X509_sign(certificate, issuer_key, EVP_sha256()) > 0);
}

std::string Join(const std::vector<std::string>& parts) {
  std::string joined;
  for (const std::string& part : parts) {
    joined += joined.empty() ? part : "," + part;
  }
  return joined;
}

}  // namespace

TestCa MakeCa(const std::string& common_name) {
  const KeyPtr key(EVP_EC_gen("P-256"));
  Check(key != nullptr);
  const CertificatePtr certificate =
      NewCertificate({.common_name = common_name}, key.get());
  X509* const x509 = certificate.get();
  AddExtension(x509, x509, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(x509, x509, NID_key_usage, "critical,keyCertSign,cRLSign");
  Sign(x509, x509, key.get());
  return {.certificate = ToPem(x509), .key = ToPem(key.get())};
}

TestCertificate Issue(const TestCa& ca, const TestSubject& subject) {
  const CertificatePtr issuer = ParseCertificate(ca.certificate);
  const KeyPtr issuer_key = ParseKey(ca.key);
  const KeyPtr key(EVP_EC_gen(subject.curve.c_str()));
  Check(key != nullptr);
  const CertificatePtr certificate = NewCertificate(subject, key.get());
  X509* const x509 = certificate.get();
  AddExtension(x509, issuer.get(), NID_basic_constraints, "critical,CA:FALSE");
  AddExtension(x509, issuer.get(), NID_key_usage, "critical,digitalSignature");
  AddExtension(x509, issuer.get(), NID_ext_key_usage, "serverAuth,clientAuth");
  if (!subject.alternative_names.empty()) {
    AddExtension(x509, issuer.get(), NID_subject_alt_name,
                 Join(subject.alternative_names));
  }
  Sign(x509, issuer.get(), issuer_key.get());
  return {.certificate = ToPem(x509), .key = ToPem(key.get())};
}

std::string EncryptKey(const std::string& key, const std::string& passphrase) {
  const BioPtr bio = NewBio();
  Check(PEM_write_bio_PKCS8PrivateKey(bio.get(), ParseKey(key).get(),
                                      EVP_aes_256_cbc(), passphrase.data(),
                                      static_cast<int>(passphrase.size()),
                                      nullptr, nullptr) == 1);
  return Contents(bio.get());
}

std::string EncodeBase64(const std::string& data) {
  // One byte more, because EVP_EncodeBlock appends a NUL.
  std::string encoded((data.size() + 2) / 3 * 4 + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                      reinterpret_cast<const unsigned char*>(data.data()),
                      static_cast<int>(data.size()));
  encoded.resize(static_cast<std::size_t>(size));
  return encoded;
}

}  // namespace minisched
