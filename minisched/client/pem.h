#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct asn1_string_st;  // OpenSSL's ASN1_TIME
struct evp_pkey_st;     // OpenSSL's EVP_PKEY
struct x509_st;         // OpenSSL's X509

namespace minisched {

// Reads and checks certificates and keys. The checks run at loading, because an
// error that names the file is more useful than a failed handshake later. No
// message contains a part of a key. All functions are thread-safe.
//
// Follows client-go's transport.TLSConfigFor and Go's tls.X509KeyPair. Checks
// the dates too, which upstream leaves to the server.

// PEM text and its name in messages: `/a/kubeconfig: user "x": client-key`.
struct Pem {
  std::string text;
  std::string where;
};

struct FreeOpenssl {
  void operator()(x509_st* certificate) const;
  void operator()(evp_pkey_st* key) const;
};
using CertificatePtr = std::unique_ptr<x509_st, FreeOpenssl>;
using KeyPtr = std::unique_ptr<evp_pkey_st, FreeOpenssl>;

// Returns all certificates in `pem`. Throws ConfigError if there is none or if
// one can't be parsed.
std::vector<CertificatePtr> ReadCertificates(const Pem& pem);

// Returns the private key in `pem`. Throws ConfigError if the key can't be
// parsed or is encrypted.
KeyPtr ReadKey(const Pem& pem);

// Returns a certificate's date in RFC 3339, UTC.
std::string FormatAsn1Time(const asn1_string_st* time);

// Decodes standard base64 with padding; skips line breaks and spaces. Returns
// nullopt if `text` isn't base64.
std::optional<std::string> DecodeBase64(const std::string& text);

// Throws ConfigError unless all certificates can be parsed, the first is valid
// at `now`, and the key can be parsed, isn't encrypted and belongs to the first
// certificate.
void CheckClientCertificate(const Pem& certificate, const Pem& key,
                            std::chrono::system_clock::time_point now);

}  // namespace minisched
