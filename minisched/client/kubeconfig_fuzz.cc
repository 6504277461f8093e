// Fuzzes kubeconfig files. The input is the text of a file.

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "minisched/base/fuzzing.h"
#include "minisched/client/errors.h"
#include "minisched/client/exec_credential.h"
#include "minisched/client/kubeconfig_context.h"
#include "minisched/client/kubeconfig_file.h"

namespace minisched {
namespace {

// MarkSecrets() begins each secret with this text, which is valid base64.
constexpr char kSecret[] = "5ecret5s";

// Removes the names of files, so that the fuzz target reads no files.
void RemoveFiles(Kubeconfig& config) {
  for (auto& [name, cluster] : config.clusters) {
    cluster.certificate_authority.clear();
  }
  for (auto& [name, user] : config.users) {
    user.client_certificate.clear();
    user.client_key.clear();
    user.token_file.clear();
  }
}

void MarkSecrets(Kubeconfig& config) {
  for (auto& [name, user] : config.users) {
    for (std::string* secret : {&user.token, &user.client_key_data}) {
      if (!secret->empty()) *secret = kSecret + *secret;
    }
    if (!user.exec) continue;
    for (auto& [variable, value] : user.exec->env) value = kSecret + value;
  }
}

void CheckMessage(const std::string& message) {
  const bool one_line =
      std::none_of(message.begin(), message.end(),
                   [](unsigned char c) { return std::iscntrl(c) != 0; });
  Require(one_line, "an error is one line", message);
}

// Checks the input of the program that prints credentials. Does not run the
// program.
void CheckExecConfig(const RestConfig& rest) {
  Require(!rest.exec->command.empty() && !rest.exec->command[0].empty(),
          "exec has a command");
  const std::string info = ExecInfo(rest);
  Require(nlohmann::json::accept(info), "a program gets JSON", info);
}

void CheckContext(const std::string& name, const Kubeconfig& config) {
  try {
    const RestConfig rest = FromContext(name, config);
    const bool is_url = rest.server.starts_with("https://") ||
                        rest.server.starts_with("http://");
    Require(is_url, "a server is a URL", rest.server);
    CheckMessage(rest.source);
    // In a header, a line break in these would begin another header.
    CheckMessage(rest.server + rest.bearer_token);
    if (rest.exec) CheckExecConfig(rest);
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    CheckMessage(message);
    Require(message.find(kSecret) == message.npos, "no error has a secret",
            message);
  }
}

}  // namespace
}  // namespace minisched

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  const std::string text(InputText(data, size));
  if (text.find(kSecret) != text.npos) return -1;  // not for the corpus
  Kubeconfig config;
  try {
    MergeKubeconfig("file", text, config);
  } catch (const ConfigError& error) {
    CheckMessage(error.what());
    return 0;
  }
  RemoveFiles(config);
  MarkSecrets(config);
  for (const auto& [name, context] : config.contexts) {
    CheckContext(name, config);
  }
  return 0;
}
