#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "lab/explain/objects.h"
#include "minisched/client/client.h"

namespace minisched::explain {

// Reads the objects of a cluster that schedulers read, except pods that have
// ended. Sends lists only, in pages of 500 objects. Returns a warning for each
// kind that the user may not list. Throws CannotTell if the server refuses the
// credentials, or the list of nodes or pods, and the errors of the client.
std::vector<std::string> ReadCluster(Client& client, Objects& objects,
                                     const std::stop_token& stop);

// Reads the pods with this name, also those that have ended. If the namespace
// is "", reads those of all namespaces. Throws the errors of the client.
void ReadPods(Client& client, const NamespacedName& name, Objects& objects,
              const std::stop_token& stop);

}  // namespace minisched::explain
