#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "minisched/client/rest_config.h"
#include "minisched/client/transport.h"

namespace minisched {

// The server under test, which all tests share: the real cluster in the
// directory $MINISCHED_REAL_CLUSTER or, if that variable is not set, a
// minisched-apiserver that this class starts.
class ServerUnderTest : public testing::Environment {
 public:
  static ServerUnderTest& Instance();

  void SetUp() override;
  void TearDown() override;

  bool embedded() const { return pid_ > 0; }
  const RestConfig& config() const { return config_; }
  Transport& transport() { return *transport_; }

  // Returns the empty namespaces, which later tests reuse because a real
  // cluster deletes namespaces slowly.
  std::vector<std::string>& empty_namespaces() { return empty_namespaces_; }

  // Deletes a namespace of a real cluster after the last test.
  void DeleteLater(std::string namespace_name) {
    leftovers_.push_back(std::move(namespace_name));
  }

 private:
  // Starts minisched-apiserver and blocks until the server accepts requests.
  void Start(const std::string& kubeconfig);

  RestConfig config_;
  std::unique_ptr<Transport> transport_;
  std::vector<std::string> empty_namespaces_;
  std::vector<std::string> leftovers_;
  pid_t pid_ = 0;
};

}  // namespace minisched
