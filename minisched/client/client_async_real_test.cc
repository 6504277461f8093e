// Tests the verbs that don't block with a real API server, over TLS.

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "minisched/api/pod.h"
#include "minisched/client/client.h"
#include "minisched/client/client_async_testing.h"
#include "testing/real_cluster.h"

namespace minisched {
namespace {

using ClientAsyncRealTest = RealClusterTest;

TEST_F(ClientAsyncRealTest, AThousandConcurrentBindingsSucceed) {
  constexpr std::size_t kPods = 1000;
  const std::vector<std::string> all_succeed(kPods, "ok");
  RestConfig config = admin();
  config.qps = 0;
  Client client(config);

  Ends created;
  Ends bound;
  Pod pod;
  pod.metadata.namespace_name = namespace_name();
  pod.spec.scheduler_name = "none";
  pod.spec.containers = {{.name = "c", .image = "i"}};
  for (std::size_t i = 0; i < kPods; ++i) {
    pod.metadata.name = "pod-" + std::to_string(i);
    client.CreateAsync(pod, {}, created.Callback<void>());
  }
  ASSERT_EQ(created.Await(kPods), all_succeed);

  for (std::size_t i = 0; i < kPods; ++i) {
    Binding binding = BindingOf("pod-" + std::to_string(i));
    binding.metadata.namespace_name = namespace_name();
    binding.target.kind = "Node";
    binding.target.name = "no-kubelet";
    client.BindAsync(binding, {}, bound.Callback<void>());
  }
  EXPECT_EQ(bound.Await(kPods), all_succeed);
  for (const auto& item :
       client.List<Pod>({.namespace_name = namespace_name()}).items) {
    EXPECT_EQ(item->spec.node_name, "no-kubelet") << item->metadata.name;
  }
}

}  // namespace
}  // namespace minisched
