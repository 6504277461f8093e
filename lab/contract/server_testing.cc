#include "lab/contract/server_testing.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "minisched/client/kubeconfig.h"

namespace minisched {
namespace {

// The path of minisched-apiserver; empty if it isn't built.
#ifdef MINISCHED_APISERVER
constexpr char kProgram[] = MINISCHED_APISERVER;
#else
constexpr char kProgram[] = "";
#endif

}  // namespace

ServerUnderTest& ServerUnderTest::Instance() {
  // GoogleTest owns and deletes environments.
  static auto* const kInstance = new ServerUnderTest;
  return *kInstance;
}

void ServerUnderTest::SetUp() {
  const char* real = std::getenv("MINISCHED_REAL_CLUSTER");
  if (real != nullptr && *real != '\0') {
    config_ = LoadRestConfig({.kubeconfig = std::string(real) + "/kubeconfig"});
  } else {
    const std::string kubeconfig =
        testing::TempDir() + "minisched-contract." + std::to_string(getpid());
    Start(kubeconfig);
    config_ = LoadRestConfig({.kubeconfig = kubeconfig});
    std::filesystem::remove(kubeconfig);
  }
  transport_ = std::make_unique<Transport>(config_);
}

void ServerUnderTest::TearDown() {
  if (pid_ <= 0) {
    for (const auto& names : {leftovers_, empty_namespaces_}) {
      for (const std::string& name : names) {
        transport_->Send(
            {.method = "DELETE", .path = "/api/v1/namespaces/" + name}, {});
      }
    }
    transport_.reset();
    return;
  }
  transport_.reset();
  kill(pid_, SIGTERM);
  int status = 0;
  waitpid(pid_, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << "minisched-apiserver exited with an error: " << status;
}

void ServerUnderTest::Start(const std::string& kubeconfig) {
  if (*kProgram == '\0') {
    throw std::runtime_error(
        "no server to test: MINISCHED_REAL_CLUSTER is not set, and "
        "minisched-apiserver is not built");
  }
  int out[2];
  if (pipe(out) != 0) throw std::runtime_error("pipe");
  pid_ = fork();
  if (pid_ == 0) {
    // End the server when this program ends, even if it crashes.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(out[1], STDOUT_FILENO);
    close(out[0]);
    close(out[1]);
    execl(kProgram, kProgram, "--port", "0", "--simulate-volumes",
          "--kubeconfig-out", kubeconfig.c_str(), nullptr);
    _exit(127);
  }
  close(out[1]);
  // The server prints its first line when it is ready. The pipe stays open, so
  // that later output does not fail.
  char c = 0;
  while (c != '\n') {
    if (read(out[0], &c, 1) != 1) {
      throw std::runtime_error(std::string(kProgram) + " did not start");
    }
  }
}

}  // namespace minisched
