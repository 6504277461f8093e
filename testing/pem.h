#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace minisched {

// These functions make certificates with EC keys for tests. They are
// thread-safe, and abort the program if OpenSSL fails.

// A certificate and its private key, both PEM.
struct TestCertificate {
  std::string certificate;
  std::string key;
};

// The certificate and the private key of a self-signed authority, both PEM.
struct TestCa {
  std::string certificate;
  std::string key;
};

// The subject, the validity and the key's curve of a certificate.
struct TestSubject {
  std::string common_name;                      // Kubernetes: the user's name
  std::vector<std::string> organizations = {};  // the user's groups
  // Alternative names in OpenSSL's format: "DNS:localhost", "IP:127.0.0.1".
  std::vector<std::string> alternative_names = {};
  std::chrono::system_clock::time_point not_before =
      std::chrono::system_clock::now() - std::chrono::hours(1);
  std::chrono::system_clock::time_point not_after =
      std::chrono::system_clock::now() + std::chrono::hours(1);
  std::string curve = "P-256";
};

// Makes an authority. Its certificate is valid from one hour ago for two hours.
TestCa MakeCa(const std::string& common_name);

// Issues a certificate for servers and clients, signed by `ca`.
TestCertificate Issue(const TestCa& ca, const TestSubject& subject);

// Returns the key encrypted with a passphrase (PKCS #8 in PEM).
std::string EncryptKey(const std::string& key, const std::string& passphrase);

// Encodes data as one line of base64, as in a kubeconfig's *-data fields.
std::string EncodeBase64(const std::string& data);

}  // namespace minisched
