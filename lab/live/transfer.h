#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "minisched/base/executor.h"
#include "minisched/client/client.h"
#include "minisched/http/http.h"

namespace minisched::live {

// Copies objects of ExportedResources() between a cluster and files. Left out
// are objects that are being deleted, pods that have ended, Services without a
// selector, and the PriorityClasses that every cluster has.
//
// The functions with a `respond` don't block. They do their work one after the
// other, on a thread of their own, which also calls `respond`.
class Transfer {
 public:
  using Respond = std::function<void(http::Reply)>;

  // `client` must outlive the object.
  explicit Transfer(Client& client) : client_(client) {}
  // Cancels the requests under way, and blocks until they have ended.
  ~Transfer() { stop_.request_stop(); }

  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Reads the objects to which Reset() returns. Blocks. Throws the errors of
  // the client, and Cancelled. REQUIRES: called before the other functions.
  void Remember(const std::stop_token& stop);

  // Responds with a List for kubectl, as YAML. Its first lines are comments,
  // which say what the list leaves out.
  void Export(Respond respond);
  // Creates the objects of the body: a List, other manifests, or what
  // kube-scheduler-simulator exports. Skips objects that exist already. Links
  // the objects to their new owners, so that no controller makes more of them.
  void Import(const http::Request& request, Respond respond);
  // Returns to the objects that Remember() has read: deletes all other objects
  // outside of the system, creates the missing ones, and restores the specs of
  // those that the page can change. Objects with a namespace are
  // always deleted and created again; nodes are not, because a kubelet does not
  // register its node again.
  void Reset(Respond respond);

 private:
  // Runs `work` on the thread, and responds with its result or its error.
  void Post(std::function<http::Reply()> work, Respond respond);

  Client& client_;
  std::stop_source stop_;
  // The lists that Remember() has read. They are parsed only for a reset: at
  // the start, this would delay the scheduler.
  std::vector<std::string> start_;
  Executor executor_{1};  // last: its tasks use the others
};

}  // namespace minisched::live
