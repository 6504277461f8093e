#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace minisched::apiserver {

struct ServerOptions {
  std::string address = "127.0.0.1";
  // 0 picks a free port.
  unsigned short port = 0;
  // Simulates a kubelet on each node.
  bool simulate_kubelet = false;
  // Simulates the controllers of Deployments and ReplicaSets.
  bool simulate_workloads = false;
  // Simulates the controllers of volumes and a provisioner.
  bool simulate_volumes = false;
  // Runs the controllers that every cluster has. Without them, nothing but
  // requests changes the objects: pods whose owners don't exist stay, and there
  // are no namespaces at the start.
  bool controllers = true;
};

// The embedded API server. It keeps all objects in memory, so they are lost
// when the process ends. All requests are served on the thread that calls
// Run().
class Server {
 public:
  // Starts to listen. Throws std::runtime_error if listening fails. Raises the
  // process's soft limit on open files to the hard limit, because each
  // connection is an open file.
  explicit Server(const ServerOptions& options);
  ~Server();

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Returns "http://127.0.0.1:34567".
  const std::string& url() const;
  // Returns a kubeconfig for this server.
  std::string Kubeconfig() const;

  // Creates the objects of a manifest, as `kubectl create -f` does. The
  // manifest is YAML or JSON, and may contain several documents and lists.
  // `source` is the name of the manifest in errors. Throws std::runtime_error.
  // Call Load() before Run().
  void Load(const std::string& manifest, const std::string& source);

  // Stores the objects of a manifest as they are: with uid, times, status and
  // node; only the resourceVersion is new. Replaces objects that exist. Runs no
  // validation. Fields that a server always sets get their defaults if they are
  // absent, and so does the uid. A pod without a uid was never on a server, so
  // it also gets what the admission of a new pod sets, such as its priority, if
  // this is absent; the classes that the pod names must be restored before.
  // Returns a line for each object that is left out, because the server does
  // not store its kind, or because a field has a wrong type: "dump.json: Pod
  // default/web: json: cannot unmarshal number 3 into spec.nodeName of type
  // string". Throws std::runtime_error if the manifest is no YAML or JSON. Call
  // Restore() before Run().
  std::vector<std::string> Restore(const std::string& manifest,
                                   const std::string& source);

  // Serves until Stop() is called. Then completes the responses in progress and
  // ends open watches properly, within one second.
  void Run();

  // Any thread may call the following functions, also before Run().
  void Stop();
  // Replaces the injected faults with those of a document in YAML or JSON
  // (faults.h). The document "{}" removes all faults. `source` is the name of
  // the document in errors. Throws std::runtime_error.
  void SetFaults(const std::string& document,
                 const std::string& source = "faults");
  // Drops the history of changes, as etcd's compaction does. A watch from an
  // earlier version then fails with 410.
  void Compact();
  // Closes all connections and refuses new ones for `duration`, as if the
  // server were down. The server keeps the objects.
  void GoAway(std::chrono::milliseconds duration);
  // Calls `visit` on this thread with each object of a resource ("pods"),
  // without the costs of a list over HTTP. REQUIRES: Run() runs on another
  // thread.
  void ForEach(const std::string& resource,
               const std::function<void(const nlohmann::json&)>& visit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace minisched::apiserver
