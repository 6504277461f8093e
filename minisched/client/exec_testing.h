#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "minisched/client/rest_config.h"

namespace minisched {

// A temporary directory for a program that prints credentials. The program is a
// shell script whose variable $DIR is the directory.
class ExecTest : public testing::Test {
 protected:
  ExecTest() {
    std::string name = testing::TempDir() + "exec_test.XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    dir_ = name;
  }
  ~ExecTest() override { std::filesystem::remove_all(dir_); }

  std::string Path(const std::string& file) const { return dir_ + "/" + file; }

  void Write(const std::string& file, const std::string& text) const {
    std::ofstream(Path(file)) << text;
  }

  std::string Read(const std::string& file) const {
    std::ifstream in(Path(file));
    return {std::istreambuf_iterator<char>(in), {}};
  }

  ExecConfig Exec(const std::string& script) const {
    return {.api_version = "client.authentication.k8s.io/v1",
            .command = {"sh", "-c", script},
            .environment = {{"DIR", dir_}},
            .source = "FILE: user \"u\""};
  }

  // Prints an ExecCredential whose status has these fields, in the quotes of
  // the shell.
  static std::string Print(const std::string& status) {
    return R"(echo '{"kind": "ExecCredential", "apiVersion": )"
           R"("client.authentication.k8s.io/v1", "status": {)" +
           status + "}}'\n";
  }

  // Prints the token "token-N" in the Nth run, with further fields of status.
  static std::string PrintToken(const std::string& fields = "") {
    return R"(echo >>"$DIR/runs"; n=$(wc -l <"$DIR/runs"))"
           "\n" +
           Print(R"("token": "token-'$n'")" + fields);
  }

  // How often the script of PrintToken() has run.
  std::size_t Runs() const {
    return static_cast<std::size_t>(std::ranges::count(Read("runs"), '\n'));
  }

  // A script that blocks until the test opens the gate.
  std::string AwaitGate() const {
    EXPECT_EQ(mkfifo(Path("gate").c_str(), 0600), 0);
    return R"(read -r line <"$DIR/gate")"
           "\n";
  }
  // Blocks until a script awaits the gate, and returns the gate. Writing a line
  // to it opens it for that script.
  std::ofstream Gate() const { return std::ofstream(Path("gate")); }

  std::string dir_;
};

}  // namespace minisched
