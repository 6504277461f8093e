#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "minisched/client/errors.h"
#include "minisched/client/kubeconfig.h"
#include "testing/pem.h"

namespace minisched {

// Returns a kubeconfig with context c, cluster k and user u. The parameters are
// the fields of the cluster and of the user.
inline std::string OneContext(const std::string& cluster,
                              const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
         "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
         "clusters: [{name: k, cluster: {" +
         cluster + "}}]\nusers: [{name: u, user: {" + user + "}}]\n";
}

inline constexpr char kServer[] = "server: \"https://h:6443\"";

// A temporary directory for files, which is $HOME too.
class KubeconfigTest : public testing::Test {
 protected:
  KubeconfigTest() {
    std::string name = testing::TempDir() + "kubeconfig_test.XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    dir_ = name;
    environment_.home = dir_;
    environment_.service_account_dir = Path("account");
  }
  ~KubeconfigTest() override { std::filesystem::remove_all(dir_); }

  std::string Path(const std::string& file) const { return dir_ + "/" + file; }

  std::string Write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(
        std::filesystem::path(Path(file)).parent_path());
    std::ofstream(Path(file)) << text;
    return Path(file);
  }

  // Sets up the environment inside a pod.
  void EnterPod() {
    environment_.service_host = "10.96.0.1";
    environment_.service_port = "443";
    Write("account/token", "pod-token\n");
    Write("account/ca.crt", ca_.certificate);
  }

  RestConfig Load(const ConfigFlags& flags = {}) const {
    return LoadRestConfig(flags, environment_);
  }

  // Returns the error of Load(), with "DIR" for the directory; empty if Load()
  // succeeds. Fails the test if the error contains "secret".
  std::string Error(const ConfigFlags& flags = {}) const {
    try {
      Load(flags);
    } catch (const ConfigError& e) {
      std::string message = e.what();
      std::size_t at = 0;
      while ((at = message.find(dir_)) != std::string::npos) {
        message.replace(at, dir_.size(), "DIR");
      }
      EXPECT_EQ(message.find("secret"), std::string::npos) << message;
      return message;
    }
    return "";
  }

  // Returns the error for a kubeconfig with this text.
  std::string ErrorOf(const std::string& text) const {
    return Error({.kubeconfig = Write("config", text)});
  }

  std::string dir_;
  ConfigEnvironment environment_;
  const TestCa ca_ = MakeCa("ca");
};

}  // namespace minisched
