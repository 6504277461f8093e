#pragma once

#include <string>

#include "lab/live/history.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/api/time.h"

namespace minisched::live {

// A row has what a page shows of a node or pod of the cluster, so that the page
// needs no knowledge of Kubernetes objects: amounts of resources are integers,
// and a pod's requests are those that count on its node.

// Returns the row as JSON. Two states of an object with the same row look the
// same to a page.
std::string RowOf(const Node& node);
std::string RowOf(const Pod& pod);

// Returns an item with a row of the object.
template <class T>
Item RowItem(const T& object, Time time);
// Returns an item that says that the object was deleted.
template <class T>
Item DeletionItem(const T& object, Time time);

}  // namespace minisched::live
