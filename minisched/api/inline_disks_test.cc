// Cases from upstream's volume_restrictions_test.go keep their names.
#include "minisched/api/inline_disks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace minisched {
namespace {

Volume Gce(const std::string& name, bool read_only = false) {
  return {.gce_persistent_disk = {{.pd_name = name, .read_only = read_only}}};
}
Volume Aws(const std::string& id) {
  return {.aws_elastic_block_store = {{.volume_id = id}}};
}
Volume Iscsi(const std::string& iqn, bool read_only = false) {
  return {.iscsi = {{.iqn = iqn, .read_only = read_only}}};
}
Volume Rbd(const std::vector<std::string>& monitors, const std::string& pool,
           const std::string& image, bool read_only = false) {
  return {.rbd = {{.monitors = monitors,
                   .pool = pool,
                   .image = image,
                   .read_only = read_only}}};
}

bool Conflict(const Volume& disk, const Volume& other) {
  Pod pod;
  pod.spec.volumes = {{.name = "v"}, disk};
  Pod other_pod;
  other_pod.spec.volumes = {other, {.name = "w"}};
  return DisksConflict(pod, other_pod);
}

TEST(InlineDisksTest, HasInlineDisk) {
  for (const Volume& disk :
       {Gce("a"), Aws("a"), Iscsi("a", true), Rbd({}, "a", "b")}) {
    EXPECT_TRUE(HasInlineDisk(disk));
  }
  EXPECT_FALSE(HasInlineDisk({.name = "empty-dir"}));
  EXPECT_FALSE(HasInlineDisk({.persistent_volume_claim = {{"c"}}}));
}

TEST(InlineDisksTest, GCEDiskConflicts) {
  EXPECT_EQ(Conflict(Gce("foo"), {}), false) << "one state";
  EXPECT_EQ(Conflict(Gce("foo"), Gce("foo")), true) << "same state";
  EXPECT_EQ(Conflict(Gce("bar"), Gce("foo")), false) << "different state";
  EXPECT_EQ(Conflict(Gce("foo", true), Gce("foo", true)), false);
  EXPECT_EQ(Conflict(Gce("foo", true), Gce("foo")), true);
  EXPECT_EQ(Conflict(Gce("foo"), Gce("foo", true)), true);
}

TEST(InlineDisksTest, AWSDiskConflicts) {
  EXPECT_EQ(Conflict(Aws("foo"), {}), false) << "one state";
  EXPECT_EQ(Conflict(Aws("foo"), Aws("foo")), true) << "same state";
  EXPECT_EQ(Conflict(Aws("bar"), Aws("foo")), false) << "different state";
}

TEST(InlineDisksTest, ISCSIDiskConflicts) {
  EXPECT_EQ(Conflict(Iscsi("foo"), {}), false) << "one state";
  EXPECT_EQ(Conflict(Iscsi("foo"), Iscsi("foo")), true) << "same state";
  EXPECT_EQ(Conflict(Iscsi("bar"), Iscsi("foo")), false) << "different state";
  EXPECT_EQ(Conflict(Iscsi("foo", true), Iscsi("foo", true)), false);
  EXPECT_EQ(Conflict(Iscsi("foo", true), Iscsi("foo")), true);
}

TEST(InlineDisksTest, RBDDiskConflicts) {
  const Volume disk = Rbd({"a", "b"}, "foo", "bar");
  EXPECT_EQ(Conflict(disk, {}), false) << "one state";
  EXPECT_EQ(Conflict(disk, disk), true) << "same state";
  EXPECT_EQ(Conflict(disk, Rbd({"c", "d"}, "foo", "bar")), false)
      << "different state";
  EXPECT_EQ(Conflict(disk, Rbd({"c", "b"}, "foo", "bar")), true);
  EXPECT_EQ(Conflict(disk, Rbd({"a"}, "bar", "bar")), false);
  EXPECT_EQ(Conflict(disk, Rbd({"a"}, "foo", "foo")), false);
  const Volume read = Rbd({"a", "b"}, "foo", "bar", true);
  EXPECT_EQ(Conflict(read, read), false);
  EXPECT_EQ(Conflict(read, disk), true);
}

TEST(InlineDisksTest, DisksOfDifferentKindsDoNotConflict) {
  EXPECT_EQ(Conflict(Gce("foo"), Aws("foo")), false);
  EXPECT_EQ(Conflict(Iscsi("foo"), Gce("foo")), false);
}

}  // namespace
}  // namespace minisched
