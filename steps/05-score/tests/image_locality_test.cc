// Cases in "Upstream" have the names and numbers of upstream's in
// imagelocality/image_locality_test.go.
#include "plugins/image_locality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "tests/handle_testing.h"
#include "tests/score_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kMb = 1024 * 1024;

// Returns a node with an image of each of these sizes. The image of 40 MB is
// "gcr.io/40:latest".
NodeAndPods NodeWithImages(const std::vector<std::int64_t>& megabytes) {
  NodeAndPods node;
  for (const std::int64_t size : megabytes) {
    node.node.status.images.push_back(
        {.names = {"gcr.io/" + std::to_string(size) + ":latest",
                   "gcr.io/" + std::to_string(size) + ":v1"},
         .size_bytes = size * kMb});
  }
  return node;
}

Pod PodWithImages(const std::vector<std::string>& images) {
  Pod pod;
  for (const std::string& image : images) {
    pod.spec.containers.push_back({.image = image});
  }
  return pod;
}

Scores ScoreImages(const Pod& pod, const std::vector<NodeAndPods>& nodes) {
  const Snapshot snapshot = SnapshotOf(nodes);
  return RunScore(ImageLocality(NewHandle(snapshot)), pod, snapshot);
}

struct ImageCase {
  const char* name;
  std::vector<std::string> images;  // of the pod's containers
  std::vector<NodeAndPods> nodes;
  std::vector<std::int64_t> expected;
};

std::ostream& operator<<(std::ostream& out, const ImageCase& c) {
  return out << c.name;
}

class ImageLocalityTest : public ::testing::TestWithParam<ImageCase> {};

TEST_P(ImageLocalityTest, Score) {
  const Scores scores =
      ScoreImages(PodWithImages(GetParam().images), GetParam().nodes);
  EXPECT_EQ(scores.raw, GetParam().expected);
  EXPECT_EQ(scores.normalized, GetParam().expected);  // no NormalizeScore
}

// A score is 100 * (sum - 23) / (1000 * containers - 23), where sum adds up
// size * nodes with the image / nodes. All sizes are in megabytes.
INSTANTIATE_TEST_SUITE_P(
    Upstream, ImageLocalityTest,
    ::testing::Values(
        // 40/2 < 23 and 100 * (250/2 - 23) / (2000 - 23)
        ImageCase{"two images spread on two nodes, prefer the larger image one",
                  {"gcr.io/40", "gcr.io/250"},
                  {NodeWithImages({40, 300, 2000}), NodeWithImages({250, 10})},
                  {0, 5}},
        // 100 * ((40 + 300)/2 - 23) / (2000 - 23)
        ImageCase{"two images on one node, prefer this node",
                  {"gcr.io/40", "gcr.io/300"},
                  {NodeWithImages({40, 300, 2000}), NodeWithImages({250, 10})},
                  {7, 0}},
        // 4000/2 >= 2000 and 10/2 < 23
        ImageCase{"if exceed limit, use limit",
                  {"gcr.io/10", "gcr.io/4000"},
                  {NodeWithImages({4000, 30}), NodeWithImages({250, 10})},
                  {100, 0}},
        // 100 * (4000/3 - 23) / (2000 - 23)
        ImageCase{"if exceed limit, use limit (with node which has no images "
                  "present)",
                  {"gcr.io/10", "gcr.io/4000"},
                  {NodeWithImages({4000, 30}), NodeWithImages({250, 10}), {}},
                  {66, 0, 0}},
        // 100 * (600 * 2/3 + 900 * 2/3 - 23) / (3000 - 23), and with 300/3 more
        ImageCase{"pod with multiple large images, node2 is preferred",
                  {"gcr.io/300", "gcr.io/600", "gcr.io/900"},
                  {NodeWithImages({600, 40, 900}),
                   NodeWithImages({300, 600, 900}),
                   {}},
                  {32, 36, 0}},
        // 100 * (30 + 40/2 - 23) / (2000 - 23)
        ImageCase{"pod with multiple small images",
                  {"gcr.io/30", "gcr.io/40"},
                  {NodeWithImages({20, 30, 40}), NodeWithImages({4000, 30})},
                  {1, 0}}));

INSTANTIATE_TEST_SUITE_P(
    Ours, ImageLocalityTest,
    ::testing::Values(ImageCase{"a sum of 23 MB counts as 0",
                                {"gcr.io/23"},
                                {NodeWithImages({23})},
                                {0}},
                      // 100 * (33 - 23) / (1000 - 23) = 1.02
                      ImageCase{"33 MB are the smallest size that counts as 1",
                                {"gcr.io/33"},
                                {NodeWithImages({33})},
                                {1}},
                      ImageCase{"999 MB are less than the limit",
                                {"gcr.io/999"},
                                {NodeWithImages({999})},
                                {99}},
                      ImageCase{"1000 MB are the limit of one container",
                                {"gcr.io/1000"},
                                {NodeWithImages({1000})},
                                {100}},
                      // 100 * (1000 - 23) / (2000 - 23)
                      ImageCase{"an image of two containers counts twice",
                                {"gcr.io/500", "gcr.io/500"},
                                {NodeWithImages({500})},
                                {49}}));

// 100 * (300/2 - 23) / (2000 - 23): a volume raises the limit too.
TEST(ImageLocalityOfPodTest, PodWithImageVolume) {
  Pod pod = PodWithImages({"gcr.io/30"});
  pod.spec.volumes = {{.name = "imageVolume",
                       .image = ImageVolumeSource{.reference = "gcr.io/300"}},
                      {.name = "another"}};
  EXPECT_THAT(ScoreImages(pod, {NodeWithImages({300, 600, 900}),
                                NodeWithImages({4000, 30})})
                  .raw,
              ElementsAre(6, 0));
}

// 100 * (300/2 - 23) / (2000 - 23)
TEST(ImageLocalityOfPodTest, IncludeInitContainers) {
  Pod pod = PodWithImages({"gcr.io/30"});
  pod.spec.init_containers = {{.image = "gcr.io/300"}};
  EXPECT_THAT(ScoreImages(pod, {NodeWithImages({40, 300, 2000}),
                                NodeWithImages({20, 30, 40})})
                  .raw,
              ElementsAre(6, 0));
}

// The name of the same image in the pod and on the node.
struct ImageNameCase {
  const char* name;
  const char* pod_image;
  const char* node_image;
};

std::ostream& operator<<(std::ostream& out, const ImageNameCase& c) {
  return out << c.name;
}

class NormalizedImageNameTest : public ::testing::TestWithParam<ImageNameCase> {
};

TEST_P(NormalizedImageNameTest, MatchesTheImageOfTheNode) {
  NodeAndPods node;
  node.node.status.images = {
      {.names = {GetParam().node_image}, .size_bytes = 2000 * kMb}};
  EXPECT_THAT(ScoreImages(PodWithImages({GetParam().pod_image}), {node}).raw,
              ElementsAre(100));
}

constexpr char kDigest[] =
    "root@sha256:"
    "4813494d137e1631bba301d5acab6e7bb7aa74ce1185d456565ef51d737677b2";

INSTANTIATE_TEST_SUITE_P(
    Upstream, NormalizedImageNameTest,
    ::testing::Values(ImageNameCase{"add :latest postfix 1", "root",
                                    "root:latest"},
                      ImageNameCase{"add :latest postfix 2", "gcr.io:5000/root",
                                    "gcr.io:5000/root:latest"},
                      ImageNameCase{"keep it as is 1", "root:tag", "root:tag"},
                      ImageNameCase{"keep it as is 2", kDigest, kDigest}));

TEST(ImageLocalityOfPodTest, AnotherTagIsAnotherImage) {
  EXPECT_THAT(
      ScoreImages(PodWithImages({"gcr.io/2000:v2"}), {NodeWithImages({2000})})
          .raw,
      ElementsAre(0));
}

// Sizes come from the kubelets, and nothing limits them.
TEST(ImageLocalityOfPodTest, AbsurdSizesDoNotOverflow) {
  std::vector<NodeAndPods> nodes(3);
  const auto set_size = [&](std::size_t node, std::int64_t size) {
    nodes[node].node.status.images = {
        {.names = {"a:latest", "b:latest"}, .size_bytes = size}};
  };
  set_size(0, std::numeric_limits<std::int64_t>::max());
  set_size(1, std::numeric_limits<std::int64_t>::min());
  set_size(2, 0);
  const Pod pod = PodWithImages(std::vector<std::string>(1000, "a"));
  EXPECT_THAT(ScoreImages(pod, nodes).raw, ElementsAre(100, 0, 0));
  EXPECT_THAT(ScoreImages(PodWithImages({"a", "b"}), nodes).raw,
              ElementsAre(100, 0, 0));
}

}  // namespace
}  // namespace minisched
