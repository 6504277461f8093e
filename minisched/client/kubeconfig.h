#pragma once

#include <stop_token>
#include <string>

#include "minisched/client/rest_config.h"

namespace minisched {

// The flags --kubeconfig and --context. Empty means not given.
struct ConfigFlags {
  std::string kubeconfig = {};
  std::string context = {};
};

// The environment that LoadRestConfig() depends on. Empty means not set. Tests
// use their own values to simulate a home directory or a pod.
struct ConfigEnvironment {
  std::string kubeconfig = {};    // $KUBECONFIG: files, separated by colons
  std::string home = {};          // $HOME
  std::string service_host = {};  // $KUBERNETES_SERVICE_HOST
  std::string service_port = {};  // $KUBERNETES_SERVICE_PORT
  std::string http_proxy = {};    // $HTTP_PROXY or $http_proxy
  std::string https_proxy = {};   // $HTTPS_PROXY or $https_proxy
  std::string no_proxy = {};      // $NO_PROXY or $no_proxy
  // The directory with a pod's token and ca.crt.
  std::string service_account_dir =
      "/var/run/secrets/kubernetes.io/serviceaccount";
};

// Returns the environment of this process.
// REQUIRES: no other thread changes the environment meanwhile.
ConfigEnvironment ProcessEnvironment();

// Loads the API server's address and the credentials. Reads, in this order:
//
//   1. the file of --kubeconfig. It must exist, and nothing else is read;
//   2. else the files of $KUBECONFIG or, if that is not set, ~/.kube/config.
//      Missing files are skipped. If several files define a cluster, user or
//      context of the same name, the first definition is used as a whole. The
//      first current-context is used;
//   3. if 2 selects no context, the service account of this process's pod.
//
// The files of 1 and 2 may be pipes, as in `--kubeconfig <(command)`. Until the
// writers of a pipe have closed it, blocks, or throws Cancelled if `stop` asks
// to stop. All other files must be regular files, or links to them.
//
// All files must be YAML with the right types. Beyond that, only the selected
// context is checked, with its cluster and user. All files are read once,
// except a token file, which the client reads again. The program of a user's
// exec is not run: the client does that when it needs credentials. Credentials
// are not loaded for an http:// server, because the client doesn't send them
// there.
//
// Throws ConfigError: one line with the file, the entry and the field.
// Thread-safe.
//
// Follows client-go's tools/clientcmd (loader.go, client_config.go,
// validation.go) and rest.InClusterConfig, but is stricter: a context's cluster
// and user must exist, a certificate needs a key and a key a certificate, the
// certificate must be valid now, a server must be a complete URL, and with
// --kubeconfig the pod's account is never used. auth-provider, username and
// password, impersonation and proxy-url are rejected with an error that names
// the field, and so is an exec whose interactiveMode is Always: a scheduler has
// no terminal. A proxy that client-go would use because of $HTTPS_PROXY or
// $HTTP_PROXY is rejected too (proxy.h).
RestConfig LoadRestConfig(
    const ConfigFlags& flags,
    const ConfigEnvironment& environment = ProcessEnvironment(),
    const std::stop_token& stop = {});

}  // namespace minisched
