#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "lab/scenario/cluster.h"
#include "lab/scenario/scenario.h"

namespace minisched::scenario {

// What a scenario needs of a cluster, and has to itself: a namespace, and its
// nodes in place of those that are there. All of it is undone by TakeDown().
// Not thread-safe.
class Stage {
 public:
  // Does nothing yet. `cluster` must outlive it.
  Stage(Cluster& cluster, std::string scheduler_name);

  // Throws CannotPlay where the server refuses, or nodes don't become Ready,
  // and what Client throws. Then too there may be something to take down.
  void SetUp(const Scenario& scenario, const std::stop_token& stop);

  const std::string& namespace_name() const { return namespace_; }

  // Makes what a step makes, and keeps in mind what would outlive the
  // namespace. Returns the uids of the pods by their names.
  std::map<std::string, std::string> Create(const scenario::Create& create,
                                            const std::stop_token& stop);

  // The same for patches and deletions. Outside of the namespace only what is
  // the scenario's own can be changed; else these throw CannotPlay, too.
  void Patch(const scenario::Patch& patch, const std::stop_token& stop);
  // Returns the names of what was deleted.
  std::vector<std::string> Delete(const scenario::Delete& deletion,
                                  const std::stop_token& stop);

  // Leaves the cluster as it was before SetUp(); goes on to the next thing
  // where one fails. Returns what could not be undone, "" if nothing.
  std::string TakeDown();

 private:
  void CreateNamespace(const std::string& file, const std::stop_token& stop);
  std::string CreateOne(const Manifest& object, bool apply,
                        const std::stop_token& stop);
  // Made by this stage, outside of its namespace.
  bool IsMade(const ObjectName& object) const;
  void SetNodesAside(const std::stop_token& stop);
  void AwaitReady(const std::vector<Manifest>& nodes,
                  const std::stop_token& stop);
  void PutBack(const Manifest& node);
  void AwaitGone(const ObjectName& object, const std::stop_token& stop);

  Cluster& cluster_;
  const std::string scheduler_name_;
  std::string namespace_;
  std::vector<ObjectName> made_;     // what may outlive the namespace
  std::vector<Manifest> set_aside_;  // nodes, as they were
};

}  // namespace minisched::scenario
