#include "minisched/client/pem.h"

#include <gtest/gtest.h>
#include <openssl/err.h>

#include <string>
#include <vector>

#include "minisched/client/errors.h"
#include "testing/pem.h"

namespace minisched {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using std::chrono::system_clock;

// 2026-01-02T03:04:05Z
constexpr system_clock::time_point kNow{seconds(1767323045)};

std::string AuthoritiesError(const std::string& text) {
  try {
    ReadCertificates({text, "ca.crt"});
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

std::string CertificateError(
    const std::string& certificate, const std::string& key,
    system_clock::time_point now = system_clock::now()) {
  try {
    CheckClientCertificate({certificate, "client.crt"}, {key, "client.key"},
                           now);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

// Returns a PEM block whose data isn't DER.
std::string BrokenBlock(const std::string& type) {
  return "-----BEGIN " + type + "-----\nc2VjcmV0\n-----END " + type + "-----\n";
}

TEST(DecodeBase64, Decodes) {
  struct Case {
    std::string text;
    std::string data;
  };
  const std::vector<Case> cases = {
      {"", ""},
      {"Zg==", "f"},
      {"Zm8=", "fo"},
      {"Zm9v", "foo"},
      {"Zm9v\nYmFy\n", "foobar"},
      {"  Zm9v  Yg==\r\n", "foob"},
      {"+/+/", "\xfb\xff\xbf"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(DecodeBase64(c.text), c.data) << c.text;
  }
}

TEST(DecodeBase64, DecodesEncodedDataOfEverySize) {
  std::string data;
  for (int size = 0; size < 300; ++size) {
    EXPECT_EQ(DecodeBase64(EncodeBase64(data)), data) << size;
    data += static_cast<char>(size * 7);
  }
}

TEST(DecodeBase64, RejectsTextThatIsNotBase64) {
  const std::vector<std::string> cases = {
      "Zg",       "Zg=",  "Z",    "Zm9v!",    "Zm9v-secret", "====",
      "Zg==Zm9v", "Zm9_", "Z=9v", "Zm9v====", "Zm9vZ"};
  for (const std::string& text : cases) {
    EXPECT_EQ(DecodeBase64(text), std::nullopt) << text;
  }
}

TEST(ReadCertificates, AcceptsSeveralWithTextAround) {
  const std::string one = MakeCa("one").certificate;
  const std::string two = MakeCa("two").certificate;
  EXPECT_EQ(AuthoritiesError(one), "");
  EXPECT_EQ(AuthoritiesError("# one\n" + one + "# two\n" + two + "\n"), "");
}

TEST(ReadCertificates, ReportsTheProblem) {
  const TestCa ca = MakeCa("ca");
  const std::string broken = BrokenBlock("CERTIFICATE");
  const std::string cut = ca.certificate.substr(0, 100);
  EXPECT_EQ(AuthoritiesError(""), "ca.crt: no PEM certificate found");
  EXPECT_EQ(AuthoritiesError("hello"), "ca.crt: no PEM certificate found");
  EXPECT_EQ(AuthoritiesError(ca.key), "ca.crt: no PEM certificate found");
  EXPECT_EQ(AuthoritiesError(broken), "ca.crt: a certificate is malformed");
  EXPECT_EQ(AuthoritiesError(ca.certificate + broken),
            "ca.crt: a certificate is malformed");
  EXPECT_EQ(AuthoritiesError(cut), "ca.crt: a certificate is malformed");
}

TEST(CheckClientCertificate, AcceptsAPair) {
  const TestCa ca = MakeCa("ca");
  const TestCertificate client = Issue(
      ca,
      {.common_name = "system:kube-scheduler", .organizations = {"a", "b"}});
  EXPECT_EQ(CertificateError(client.certificate, client.key), "");
  // A chain that starts with the leaf, then both in one file as on a kubelet.
  EXPECT_EQ(CertificateError(client.certificate + ca.certificate, client.key),
            "");
  const std::string both = client.key + client.certificate;
  EXPECT_EQ(CertificateError(both, both), "");
}

TEST(CheckClientCertificate, ReportsTheProblem) {
  const TestCa ca = MakeCa("ca");
  const TestCertificate client = Issue(ca, {.common_name = "u"});
  const TestCertificate other = Issue(ca, {.common_name = "v"});
  const std::string encrypted_the_old_way =
      "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
      "DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\n"
      "c2VjcmV0c2VjcmV0\n-----END EC PRIVATE KEY-----\n";
  struct Case {
    std::string certificate;
    std::string key;
    std::string error;
  };
  const std::vector<Case> cases = {
      {"", client.key, "client.crt: no PEM certificate found"},
      {client.key, client.key, "client.crt: no PEM certificate found"},
      {BrokenBlock("CERTIFICATE"), client.key,
       "client.crt: a certificate is malformed"},
      {client.certificate, "", "client.key: no readable PEM private key found"},
      {client.certificate, client.certificate,
       "client.key: no readable PEM private key found"},
      {client.certificate, BrokenBlock("PRIVATE KEY"),
       "client.key: no readable PEM private key found"},
      {client.certificate, BrokenBlock("EC PRIVATE KEY"),
       "client.key: no readable PEM private key found"},
      {client.certificate, other.key,
       "client.key: the key does not belong to the client certificate"},
      {client.certificate, EncryptKey(client.key, "secret"),
       "client.key: the key is encrypted, which is not supported"},
      {client.certificate, encrypted_the_old_way,
       "client.key: the key is encrypted, which is not supported"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(CertificateError(c.certificate, c.key), c.error);
  }
}

TEST(CheckClientCertificate, ChecksTheDatesToTheSecond) {
  const TestCertificate client = Issue(
      MakeCa("ca"),
      {.common_name = "u", .not_before = kNow, .not_after = kNow + hours(1)});
  struct Case {
    system_clock::time_point now;
    std::string error;
  };
  const std::vector<Case> cases = {
      {kNow - seconds(1),
       "client.crt: the certificate is not valid before 2026-01-02T03:04:05Z"},
      {kNow, ""},
      {kNow + hours(1), ""},
      {kNow + hours(1) + seconds(1),
       "client.crt: the certificate expired at 2026-01-02T04:04:05Z"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(CertificateError(client.certificate, client.key, c.now), c.error);
  }
}

TEST(CheckClientCertificate, HandlesDatesBeyond2050) {
  // From 2050 on, X.509 writes the year with four digits instead of two.
  const system_clock::time_point year_2100{seconds(4102444800)};
  const TestCertificate client =
      Issue(MakeCa("ca"), {.common_name = "u",
                           .not_before = year_2100,
                           .not_after = year_2100 + hours(1)});
  EXPECT_EQ(CertificateError(client.certificate, client.key, kNow),
            "client.crt: the certificate is not valid before "
            "2100-01-01T00:00:00Z");
}

TEST(Pem, LeavesNothingInTheErrorQueue) {
  const TestCertificate client = Issue(MakeCa("ca"), {.common_name = "u"});
  AuthoritiesError(client.certificate);
  EXPECT_EQ(ERR_peek_error(), 0u);
  AuthoritiesError(BrokenBlock("CERTIFICATE"));
  EXPECT_EQ(ERR_peek_error(), 0u);
  CertificateError(client.certificate, EncryptKey(client.key, "secret"));
  EXPECT_EQ(ERR_peek_error(), 0u);
  DecodeBase64("Z");
  EXPECT_EQ(ERR_peek_error(), 0u);
}

}  // namespace
}  // namespace minisched
