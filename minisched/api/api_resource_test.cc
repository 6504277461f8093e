#include "minisched/api/api_resource.h"

#include <gtest/gtest.h>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched {
namespace {

TEST(ApiResourceTest, ReturnsPaths) {
  constexpr ApiResource kLease{"coordination.k8s.io", "v1", "leases", "Lease",
                               true};
  EXPECT_EQ(Pod::kResource.Path(""), "/api/v1/pods");
  EXPECT_EQ(Pod::kResource.Path("shop"), "/api/v1/namespaces/shop/pods");
  EXPECT_EQ(Pod::kResource.Path("shop", "web-0"),
            "/api/v1/namespaces/shop/pods/web-0");
  EXPECT_EQ(Node::kResource.Path("", "node-1"), "/api/v1/nodes/node-1");
  EXPECT_EQ(kLease.Path("kube-system", "a"),
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/a");
  EXPECT_EQ(kLease.ApiVersion(), "coordination.k8s.io/v1");
  EXPECT_EQ(Pod::kResource.ApiVersion(), "v1");
}

}  // namespace
}  // namespace minisched
