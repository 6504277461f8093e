#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace minisched {

// Certificates for tests, made on the spot with EC keys (P-256). Thread-safe.
// All functions abort the program where OpenSSL fails.

// A certificate with its private key, both PEM.
struct TestCertificate {
  std::string certificate;
  std::string key;
};

// A certificate authority that signs itself.
struct TestCa {
  std::string certificate;
  std::string key;
};

// What a certificate is to say.
struct TestSubject {
  std::string common_name;                      // a user's name, to Kubernetes
  std::vector<std::string> organizations = {};  // the user's groups
  // Alternative names as OpenSSL writes them: "DNS:localhost", "IP:127.0.0.1".
  std::vector<std::string> alternative_names = {};
  std::chrono::system_clock::time_point not_before =
      std::chrono::system_clock::now() - std::chrono::hours(1);
  std::chrono::system_clock::time_point not_after =
      std::chrono::system_clock::now() + std::chrono::hours(1);
};

// Valid from an hour ago, for two.
TestCa MakeCa(const std::string& common_name);

// A certificate that ca signs, good for servers and clients alike.
TestCertificate Issue(const TestCa& ca, const TestSubject& subject);

// The key, encrypted (PKCS #8).
std::string EncryptKey(const std::string& key, const std::string& passphrase);

// As in the *-data fields of a kubeconfig: one line.
std::string EncodeBase64(const std::string& data);

}  // namespace minisched
