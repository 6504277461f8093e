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

// Checks on certificates and keys, made when they are loaded: a message that
// names the file is worth more than a failed handshake later. A message never
// holds a part of a key. All functions are thread-safe.
//
// Follows client-go's transport.TLSConfigFor and Go's tls.X509KeyPair, but for
// the dates, which upstream leaves to the server.

// PEM text, and what messages call it: `/a/kubeconfig: user "x": client-key`.
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

// All certificates in it. Throws ConfigError unless there is one, and all of
// them parse.
std::vector<CertificatePtr> ReadCertificates(const Pem& pem);

// The private key in it. Throws ConfigError unless it parses, and is not
// encrypted.
KeyPtr ReadKey(const Pem& pem);

// A certificate's date in RFC 3339, UTC.
std::string FormatAsn1Time(const asn1_string_st* time);

// Decodes standard base64 with its padding; line breaks and spaces in it are
// skipped. Nothing if it is not that.
std::optional<std::string> DecodeBase64(const std::string& text);

// Throws ConfigError unless the first certificate parses and is valid at
// `now`, and the key parses, is not encrypted and is that certificate's.
void CheckClientCertificate(const Pem& certificate, const Pem& key,
                            std::chrono::system_clock::time_point now);

}  // namespace minisched
