// The tests of upstream's passive_assume_cache_test.go and assume_cache_test.go
// are named in comments.
#include "plugins/assume_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "minisched/api/persistent_volume.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using VolumePtr = std::shared_ptr<const PersistentVolume>;

VolumePtr NewVolume(const std::string& name, const std::string& version,
                    const std::string& claim = "") {
  PersistentVolume volume;
  volume.metadata.name = name;
  volume.metadata.uid = "uid-" + name;
  volume.metadata.resource_version = version;
  if (!claim.empty()) volume.spec.claim_ref = {.name = claim};
  return std::make_shared<const PersistentVolume>(volume);
}

class AssumeCacheTest : public ::testing::Test {
 protected:
  // Returns "version claim" of the volume, or "" if there is none.
  std::string Get(const std::string& name) const {
    const VolumePtr volume = cache_.Get("", name);
    return volume ? Describe(*volume) : "";
  }
  std::vector<std::string> List() const {
    std::vector<std::string> all;
    for (const VolumePtr& volume : cache_.List()) {
      all.push_back(volume->metadata.name + " " + Describe(*volume));
    }
    return all;
  }
  std::string Assume(const VolumePtr& volume) {
    const auto assumed = cache_.Assume(volume);
    return assumed ? "" : assumed.error();
  }

  Store<PersistentVolume> store_;
  AssumeCache<PersistentVolume> cache_{store_};

 private:
  static std::string Describe(const PersistentVolume& volume) {
    const auto& claim = volume.spec.claim_ref;
    return volume.metadata.resource_version + (claim ? " " + claim->name : "");
  }
};

// TestAssumeCacheAdd, TestAssumeCacheDelete.
TEST_F(AssumeCacheTest, HasWhatTheStoreHas) {
  EXPECT_EQ(Get("a"), "");
  EXPECT_THAT(List(), ElementsAre());
  store_.Set(NewVolume("a", "5"));
  store_.Set(NewVolume("b", "6"));
  EXPECT_EQ(Get("a"), "5");
  EXPECT_THAT(List(), ElementsAre("a 5", "b 6"));
  store_.Delete("", "a");
  EXPECT_EQ(Get("a"), "");
}

// TestAssumeCacheAssume: "normal".
TEST_F(AssumeCacheTest, AnAssumedObjectReplacesTheStoredOne) {
  store_.Set(NewVolume("a", "5"));
  store_.Set(NewVolume("b", "6"));
  EXPECT_EQ(Assume(NewVolume("a", "5", "claim")), "");
  EXPECT_EQ(Get("a"), "5 claim");
  EXPECT_EQ(Get("b"), "6");
  EXPECT_THAT(List(), ElementsAre("a 5 claim", "b 6"));
  EXPECT_EQ(Assume(NewVolume("a", "5", "other")), "");
  EXPECT_EQ(Get("a"), "5 other");
}

// TestAssumeCacheAssume: "newer object", "older object", "nonexistent".
TEST_F(AssumeCacheTest, OnlyTheStoredVersionCanBeAssumed) {
  store_.Set(NewVolume("a", "5"));
  EXPECT_EQ(Assume(NewVolume("a", "6", "claim")),
            "\"a\" is out of sync (stored: 5, assume: 6)");
  EXPECT_EQ(Assume(NewVolume("a", "4", "claim")),
            "\"a\" is out of sync (stored: 5, assume: 4)");
  EXPECT_EQ(Get("a"), "5");
  EXPECT_EQ(Assume(NewVolume("b", "5", "claim")),
            "persistentvolumes \"b\" not found");
}

// TestAssumeCacheUpdate, TestAssumeCacheDelete.
TEST_F(AssumeCacheTest, AnUpdateEndsTheAssumption) {
  store_.Set(NewVolume("a", "5"));
  Assume(NewVolume("a", "5", "claim"));
  store_.Set(NewVolume("a", "6"));
  EXPECT_EQ(Get("a"), "6");
  EXPECT_THAT(List(), ElementsAre("a 6"));
  Assume(NewVolume("a", "6", "claim"));
  store_.Delete("", "a");
  EXPECT_EQ(Get("a"), "");
  EXPECT_THAT(List(), ElementsAre());
}

TEST_F(AssumeCacheTest, ListForgetsWhatDoesNotCountAnyMore) {
  store_.Set(NewVolume("a", "5"));
  Assume(NewVolume("a", "5", "claim"));
  store_.Set(NewVolume("a", "6"));
  List();
  store_.Set(NewVolume("a", "5"));  // a server that was restored
  EXPECT_EQ(Get("a"), "5");
}

// TestAssumeCacheRestore.
TEST_F(AssumeCacheTest, RestoreEndsTheAssumption) {
  store_.Set(NewVolume("a", "5"));
  cache_.Restore(*NewVolume("a", "5"));  // does nothing
  Assume(NewVolume("a", "5", "claim"));
  cache_.Restore(*NewVolume("a", "6"));  // has been written: another version
  EXPECT_EQ(Get("a"), "5 claim");
  cache_.Restore(*NewVolume("a", "5", "claim"));
  EXPECT_EQ(Get("a"), "5");
}

}  // namespace
}  // namespace minisched
