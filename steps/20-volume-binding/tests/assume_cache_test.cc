// Comments name the tests of upstream's passive_assume_cache_test.go.
#include "plugins/assume_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "minisched/api/volume_matching.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;

VolumePtr VersionOf(const std::string& name, const std::string& version,
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

// TestBasicCache.
TEST_F(AssumeCacheTest, HasWhatTheStoreHas) {
  EXPECT_EQ(Get("a"), "");
  EXPECT_THAT(List(), ElementsAre());
  store_.Set(VersionOf("a", "5"));
  store_.Set(VersionOf("b", "6"));
  EXPECT_EQ(Get("a"), "5");
  EXPECT_THAT(List(), ElementsAre("a 5", "b 6"));
  store_.Delete("", "a");
  EXPECT_EQ(Get("a"), "");
}

// TestAssume: "success-same-version"; TestAssumeUpdateCache.
TEST_F(AssumeCacheTest, AnAssumedObjectReplacesTheStoredOne) {
  store_.Set(VersionOf("a", "5"));
  store_.Set(VersionOf("b", "6"));
  EXPECT_EQ(Assume(VersionOf("a", "5", "claim")), "");
  EXPECT_EQ(Get("a"), "5 claim");
  EXPECT_EQ(Get("b"), "6");
  EXPECT_THAT(List(), ElementsAre("a 5 claim", "b 6"));
  EXPECT_EQ(Assume(VersionOf("a", "5", "other")), "");
  EXPECT_EQ(Get("a"), "5 other");
}

// TestAssume: "fail-new-higher-version", "fail-new-lower-version",
// "fail-old-not-found".
TEST_F(AssumeCacheTest, OnlyTheStoredVersionCanBeAssumed) {
  store_.Set(VersionOf("a", "5"));
  EXPECT_EQ(Assume(VersionOf("a", "6", "claim")),
            "\"a\" is out of sync (stored: 5, assume: 6)");
  EXPECT_EQ(Assume(VersionOf("a", "4", "claim")),
            "\"a\" is out of sync (stored: 5, assume: 4)");
  EXPECT_EQ(Get("a"), "5");
  EXPECT_EQ(Assume(VersionOf("b", "5", "claim")),
            "persistentvolumes \"b\" not found");
}

TEST_F(AssumeCacheTest, AnUpdateEndsTheAssumption) {
  store_.Set(VersionOf("a", "5"));
  Assume(VersionOf("a", "5", "claim"));
  store_.Set(VersionOf("a", "6"));
  EXPECT_EQ(Get("a"), "6");
  EXPECT_THAT(List(), ElementsAre("a 6"));
  Assume(VersionOf("a", "6", "claim"));
  store_.Delete("", "a");
  EXPECT_EQ(Get("a"), "");
  EXPECT_THAT(List(), ElementsAre());
}

TEST_F(AssumeCacheTest, AssumeForgetsWhatDoesNotCountAnyMore) {
  store_.Set(VersionOf("a", "5"));
  store_.Set(VersionOf("b", "5"));
  Assume(VersionOf("a", "5", "claim"));
  store_.Set(VersionOf("a", "6"));
  Assume(VersionOf("b", "5", "claim"));
  store_.Set(VersionOf("a", "5"));  // a server that was restored
  EXPECT_EQ(Get("a"), "5");
}

// TestRestore.
TEST_F(AssumeCacheTest, RestoreEndsTheAssumption) {
  store_.Set(VersionOf("a", "5"));
  cache_.Restore(*VersionOf("a", "5"));  // does nothing
  Assume(VersionOf("a", "5", "claim"));
  cache_.Restore(*VersionOf("a", "6"));  // has been written: another version
  EXPECT_EQ(Get("a"), "5 claim");
  cache_.Restore(*VersionOf("a", "5", "claim"));
  EXPECT_EQ(Get("a"), "5");
}

// TestConcurrentAssume.
TEST_F(AssumeCacheTest, RestoreKeepsANewerAssumption) {
  store_.Set(VersionOf("a", "5"));
  Assume(VersionOf("a", "5", "claim"));
  store_.Set(VersionOf("a", "7"));
  Assume(VersionOf("a", "7", "other"));
  cache_.Restore(*VersionOf("a", "5", "claim"));
  EXPECT_EQ(Get("a"), "7 other");
}

}  // namespace
}  // namespace minisched
