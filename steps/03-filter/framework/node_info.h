#pragma once

#include <memory>
#include <utility>

#include "minisched/api/node.h"

namespace minisched {

// A node, with the data that plugins need.
class NodeInfo {
 public:
  explicit NodeInfo(std::shared_ptr<const Node> node)
      : node_(std::move(node)) {}

  const Node& node() const { return *node_; }

 private:
  std::shared_ptr<const Node> node_;
};

}  // namespace minisched
