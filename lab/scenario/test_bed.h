#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "lab/scenario/cluster.h"
#include "lab/scenario/scenario.h"

namespace minisched::scenario {

// The cluster as a scenario needs it. SetUp() creates a namespace, and replaces
// the cluster's nodes if the scenario has nodes. TearDown() restores the
// cluster. Not thread-safe.
class TestBed {
 public:
  // `cluster` must outlive the test bed.
  TestBed(Cluster& cluster, std::string scheduler_name);

  // Creates the namespace and replaces the nodes. Throws CannotPlay if the
  // server rejects a request or nodes don't become Ready, and what Client
  // throws. Call TearDown() even after an exception.
  void SetUp(const Scenario& scenario, const std::stop_token& stop);

  const std::string& namespace_name() const { return namespace_; }

  // Creates the objects of a step, and records the objects that would outlive
  // the namespace. Returns the uids of the pods by name.
  std::map<std::string, std::string> Create(const scenario::Create& create,
                                            const std::stop_token& stop);

  // Patches an object. Throws CannotPlay for a cluster-scoped object that the
  // scenario has not created.
  void Patch(const scenario::Patch& patch, const std::stop_token& stop);
  // Deletes the objects that match and returns their names. Skips
  // cluster-scoped objects that the scenario has not created.
  std::vector<std::string> Delete(const scenario::Delete& deletion,
                                  const std::stop_token& stop);

  // Restores the cluster's state from before SetUp(). Continues after a
  // failure, unless the server is unreachable. Returns the failures, or "".
  std::string TearDown();

 private:
  void CreateNamespace(const std::string& file, const std::stop_token& stop);
  std::string CreateOne(const Manifest& object, bool apply,
                        const std::stop_token& stop);
  // True if `made_` has the object.
  bool IsMade(const ObjectName& object) const;
  void SetNodesAside(const std::stop_token& stop);
  void AwaitReady(const std::vector<Manifest>& nodes,
                  const std::stop_token& stop);
  void PutBack(const Manifest& node);
  // Deletes all objects of a kind in the namespace.
  void DeleteAll(const std::string& api_version, const std::string& kind,
                 const std::string& namespace_name);
  // Blocks until the scenario's own namespace is gone. Throws CannotPlay.
  void AwaitGone(const ObjectName& own);

  Cluster& cluster_;
  const std::string scheduler_name_;
  std::string namespace_;
  std::vector<ObjectName> made_;     // the created objects to delete at the end
  std::vector<Manifest> set_aside_;  // the cluster's nodes, deleted by SetUp()
};

}  // namespace minisched::scenario
