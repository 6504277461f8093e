#pragma once

#include <string>

#include "minisched/client/rest_config.h"

namespace minisched {

// What the user says about where to connect: --kubeconfig and --context.
// Empty means not given.
struct ConfigFlags {
  std::string kubeconfig = {};
  std::string context = {};
};

// What the process's surroundings say about it. Empty means not set. A value,
// so that tests can set up a home, or the inside of a pod.
struct ConfigEnvironment {
  std::string kubeconfig = {};     // $KUBECONFIG: files, separated by colons
  std::string home = {};           // $HOME
  std::string service_host = {};   // $KUBERNETES_SERVICE_HOST
  std::string service_port = {};   // $KUBERNETES_SERVICE_PORT
  std::string pod_namespace = {};  // $POD_NAMESPACE
  // Where a pod finds token, ca.crt and namespace.
  std::string service_account_dir =
      "/var/run/secrets/kubernetes.io/serviceaccount";
};

// Those of this process. Not to be called while another thread changes the
// environment.
ConfigEnvironment ProcessEnvironment();

// Finds out how to reach the API server, and as whom. Asks, in this order:
//
//   1. the file of --kubeconfig, which must exist, and alone;
//   2. else the files of $KUBECONFIG, or ~/.kube/config where it is not set.
//      Missing files are skipped. The first file that has a cluster, user or
//      context of some name has it wholly; the first that has a
//      current-context sets it;
//   3. where 2 chooses no context: the service account of the pod we are in.
//
// All must be YAML and have the right types. Beyond that, only the chosen
// context is checked, with its cluster and user. Files are read once; only a
// token file is left for the client to read anew. An http:// server is sent
// no credentials, so none are loaded for it.
//
// Throws ConfigError: one line that names the file, the entry and the field.
// Thread-safe.
//
// Follows client-go's tools/clientcmd (loader.go, client_config.go,
// validation.go) and rest.InClusterConfig. Differs where upstream guesses: a
// context's cluster and user must exist, a certificate and its key come
// together and the certificate must be valid today, a server is a whole URL,
// and --kubeconfig never gives way to the pod's account. exec, auth-provider,
// username and password, impersonation and proxy-url are refused by name.
RestConfig LoadRestConfig(
    const ConfigFlags& flags,
    const ConfigEnvironment& environment = ProcessEnvironment());

}  // namespace minisched
