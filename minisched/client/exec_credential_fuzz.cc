// Fuzzes the output of a program that prints credentials. The input is this
// output.

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "minisched/api/json_mutator.h"
#include "minisched/api/parse_error.h"
#include "minisched/base/fuzzing.h"
#include "minisched/client/exec_credential.h"

namespace minisched {
namespace {

using Json = nlohmann::json;

constexpr char kVersion[] = "client.authentication.k8s.io/v1";

constexpr char kSecret[] = "5ecret";

bool IsOneLine(const std::string& text) {
  return std::ranges::none_of(
      text, [](unsigned char c) { return std::iscntrl(c) != 0; });
}

// Checks that no error quotes a text of the status.
void CheckSecrets(const std::string& text) {
  Json object = Json::parse(text, nullptr, false);
  const bool marked = text.find(kSecret) != text.npos;
  if (marked || !object.is_object() || !object.contains("status")) return;
  for (Json& value : object["status"]) {
    if (value.is_string()) value = kSecret + value.get<std::string>();
  }
  try {
    ParseExecCredential(object.dump(), kVersion);
  } catch (const ParseError& error) {
    const std::string message = error.what();
    Require(message.find(kSecret) == message.npos, "no error has a secret",
            message);
  }
}

void CheckCredential(const ExecCredential& credential) {
  const bool certificate = !credential.client_certificate_data.empty();
  Require(certificate == !credential.client_key_data.empty(),
          "a certificate has a key");
  Require(certificate || !credential.token.empty(),
          "a credential is not empty");
  // In a header, a line break in the token would begin another header.
  Require(IsOneLine(credential.token), "a token is one line", credential.token);
  const Json object = {
      {"apiVersion", kVersion},
      {"kind", "ExecCredential"},
      {"status",
       {{"token", credential.token},
        {"clientCertificateData", credential.client_certificate_data},
        {"clientKeyData", credential.client_key_data}}}};
  const auto again = ParseExecCredential(object.dump(), kVersion);
  Require(again.token == credential.token &&
              again.client_key_data == credential.client_key_data,
          "a credential can be read again", object.dump());
}

}  // namespace
}  // namespace minisched

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  const std::string text(InputText(data, size));
  try {
    CheckCredential(ParseExecCredential(text, kVersion));
  } catch (const ParseError& error) {
    Require(IsOneLine(error.what()), "an error is one line", error.what());
    CheckSecrets(text);
  }
  return 0;
}
