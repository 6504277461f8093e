#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "lab/live/json.h"
#include "minisched/api/api_resource.h"
#include "minisched/client/client.h"
#include "minisched/http/http.h"

namespace minisched::live {

// Returns "Pod default/web".
std::string TitleOf(const Json& object);

// Returns the exported objects of the lists of ExportedResources().
std::vector<Json> ExportedOf(const std::vector<std::string>& lists);

// The calls of one transfer, and a summary of what they have done. The calls
// block, and throw the client's errors, except for refused writes, which become
// errors of the summary.
class TransferWork {
 public:
  TransferWork(Client& client, std::stop_token stop)
      : client_(client), stop_(std::move(stop)) {}

  http::Reply Summary() const { return {.body = Dump(summary_)}; }
  void Skip(const std::string& what) { Count("skipped", what); }
  void Fail(const std::string& title, const std::string& error);

  // Returns the list of each kind, in the order of ExportedResources(). A list
  // is empty if the server lacks the kind, or if the account may not list it.
  std::vector<std::string> GetLists();
  // Returns why kinds could not be listed.
  const std::vector<std::string>& unlisted() const { return unlisted_; }
  // Returns the objects of a kind that a reset may delete.
  std::vector<Json> List(const ApiResource& resource);

  // Creates the objects, and then gives them their owners and their status,
  // which a server doesn't take when it creates them.
  void CreateAll(const std::vector<Json>& objects);
  // Adds the labels of an object to those that it has.
  void SetLabels(const Json& object);
  void Delete(const Json& object);
  // Gives an object its spec, labels and annotations of the start again. The
  // new metadata have no resourceVersion, so the write can't fail because of a
  // change since the list, such as the status that a kubelet reports. All kinds
  // without a namespace that the page shows allow this. REQUIRES: such a kind.
  void Restore(Json object, const Json& start);
  // Waits until no object of the kind is left.
  void AwaitDeletion(const ApiResource& resource);

 private:
  // `now` is the object as the server has it.
  void Complete(const Json& object, const Json& now);
  // Links a created object to its owners, unless controllers have done so.
  void SetOwners(const Json& object, const Json& now);
  // A pending pod keeps its new status, except for the names of its claims, and
  // so does a pod that a kubelet has started.
  void SetStatus(const Json& object, const Json& now);
  // Sends a write about an object. Returns the response, or nullopt if the
  // server refuses the write, for the reason that only makes it needless, or
  // for another one.
  std::optional<std::string> Write(const std::string& method,
                                   const Json& object, const Json& body,
                                   const std::string& needless);
  void Patch(const Json& object, const std::string& subresource,
             const Json& patch);
  std::string GetList(const ApiResource& resource);
  void Count(const char* member, const std::string& what);

  Client& client_;
  const std::stop_token stop_;
  std::vector<std::string> unlisted_;
  std::map<std::string, std::string> uids_;  // of the created, by title
  Json summary_ = {{"created", Json::object()},
                   {"skipped", Json::object()},
                   {"deleted", Json::object()},
                   {"errors", Json::array()}};
};

}  // namespace minisched::live
