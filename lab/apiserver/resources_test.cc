#include "lab/apiserver/resources.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace minisched::apiserver {
namespace {

TEST(ResourcesTest, EveryRowIsUniqueAndCompleteAndCanBeFound) {
  std::set<std::string> names;
  for (const ResourceRow& row : AllResources()) {
    const std::string name = row.QualifiedName();
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_NE(row.strategy, nullptr) << name;
    EXPECT_TRUE(
        std::is_sorted(row.subresources.begin(), row.subresources.end()))
        << name;
    for (const std::string& part : row.subresources) {
      EXPECT_NO_THROW(GetSubresource(part)) << part;
    }
    EXPECT_EQ(FindResource(row.group, row.version, row.plural), &row);
    EXPECT_EQ(FindKind(row.ApiVersion(), row.kind), &row);
  }
  EXPECT_EQ(FindResource("apps", "v1", "pods"), nullptr);
  EXPECT_EQ(FindKind("apps/v1", "Pod"), nullptr);
  EXPECT_EQ(GetResource("events.k8s.io", "events").QualifiedName(),
            "events.events.k8s.io");
}

}  // namespace
}  // namespace minisched::apiserver
