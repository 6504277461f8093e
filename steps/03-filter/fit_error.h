#pragma once

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>

#include "status.h"

namespace minisched {

// No node is to be had for a pod: nothing is wrong, it has to wait.
class Unschedulable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Why not, node by node.
struct Diagnosis {
  std::map<std::string, Status> node_to_status;
};

// There are nodes, but none fits. what() is for people, and counts reasons:
// "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) had
// untolerated taint(s)." Follows kube-scheduler's framework/types.go.
class FitError : public Unschedulable {
 public:
  FitError(std::size_t num_all_nodes, Diagnosis diagnosis);

  const Diagnosis& diagnosis() const { return diagnosis_; }

 private:
  Diagnosis diagnosis_;
};

}  // namespace minisched
