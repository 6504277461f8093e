#pragma once

#include <string>
#include <vector>

#include "minisched/apiserver/controller.h"

namespace minisched::apiserver {

// The reference to the controller that an object belongs to; null where it
// belongs to none.
const Json& ControllerOf(const Json& object);
// The reference for what belongs to `owner`.
Json ReferenceToController(const Json& owner);

// A pod that is neither going nor over; anything else that isn't going.
bool IsActive(const Json& object);

// A controller of objects that have others of their own: Sync() is called for
// one as often as it or one of those changes. Follows
// pkg/controller/controller_ref_manager.go.
class OwnerController : public Controller {
 protected:
  OwnerController(Registry& registry, const ResourceRow& row,
                  const ResourceRow& child_row);

  // What belongs to `owner`, once it has adopted the active orphans that its
  // selector selects, and let go of what it doesn't select.
  std::vector<Object> Claim(const Json& owner);

  const ResourceRow& row_;
  const ResourceRow& child_row_;
  Index children_;  // by the uids of their controllers

 private:
  void EnqueueOwner(const Json& child);
};

}  // namespace minisched::apiserver
