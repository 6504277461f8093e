#include "plugins/image_locality.h"

#include <algorithm>

namespace minisched {
namespace {

constexpr std::int64_t kMegabyte = std::int64_t{1024} * 1024;
// The sum of image sizes up to which the score is 0, and the sum per image from
// which the score is kMaxNodeScore.
constexpr std::int64_t kMinThreshold = 23 * kMegabyte;
constexpr std::int64_t kMaxContainerThreshold = 1000 * kMegabyte;

struct PodImage {
  std::string name;
  double spread;  // the share of all nodes that have the image
};

struct PodImages {
  std::vector<PodImage> images;
};

// Returns the name with the tag "latest" if the name has no tag and no digest.
// The kubelet reports such names.
std::string NormalizedImageName(std::string name) {
  const auto colon = name.rfind(':');
  const auto slash = name.rfind('/');
  const bool has_tag = colon != std::string::npos &&
                       (slash == std::string::npos || colon > slash);
  if (!has_tag) name += ":latest";
  return name;
}

// Returns the names of the pod's images. An image of two containers is listed
// twice.
std::vector<std::string> ImageNames(const PodSpec& spec) {
  std::vector<std::string> names;
  for (const auto* containers : {&spec.init_containers, &spec.containers}) {
    for (const Container& container : *containers) {
      names.push_back(NormalizedImageName(container.image));
    }
  }
  for (const Volume& volume : spec.volumes) {
    if (volume.image) {
      names.push_back(NormalizedImageName(volume.image->reference));
    }
  }
  return names;
}

}  // namespace

Status ImageLocality::PreScore(CycleState& state, const Pod& pod,
                               const Nodes& /*nodes*/) const {
  const auto all = static_cast<double>(handle_.snapshot.List().size());
  PodImages images;
  for (std::string& name : ImageNames(pod.spec)) {
    const int having = handle_.snapshot.CountNodesWithImage(name);
    images.images.push_back({std::move(name), having / all});
  }
  state.Write(std::move(images));
  return {};
}

Status ImageLocality::Score(const CycleState& state, const Pod& /*pod*/,
                            const NodeInfo& node, std::int64_t& score) const {
  const auto& [images] = state.Read<PodImages>();
  const std::int64_t most = kMaxContainerThreshold * std::ssize(images);
  std::int64_t sum = 0;
  for (const PodImage& image : images) {
    const auto size = node.image_sizes().find(image.name);
    if (size == node.image_sizes().end()) continue;
    // The limits keep the sum from overflowing: a node can report any size.
    sum += static_cast<std::int64_t>(
        std::clamp(static_cast<double>(size->second) * image.spread, 0.0,
                   static_cast<double>(most)));
  }
  sum = std::max(std::min(sum, most), kMinThreshold);
  score = kMaxNodeScore * (sum - kMinThreshold) / (most - kMinThreshold);
  return {};
}

}  // namespace minisched
