#pragma once

#include <string>

#include "minisched/apiserver/controller.h"

namespace minisched::apiserver {

// Makes the namespaces that every cluster has; sees to it that each namespace
// has a ServiceAccount "default" and a ConfigMap "kube-root-ca.crt"; and
// empties those that are being deleted, so that they can go. Follows
// pkg/controller/namespace, serviceaccount and
// certificates/rootcacertpublisher.
class NamespaceController : public Controller {
 public:
  explicit NamespaceController(Registry& registry);

 private:
  void Sync(const ObjectKey& key) override;
  // Makes the object, of that kind and name, unless it is there.
  void Ensure(const char* plural, const std::string& ns, Json object);
  void Empty(const ObjectKey& key);
};

}  // namespace minisched::apiserver
