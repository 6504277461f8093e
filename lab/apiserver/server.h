#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace minisched::apiserver {

struct ServerOptions {
  std::string address = "127.0.0.1";
  // 0 picks a free port.
  unsigned short port = 0;
  // Simulate a kubelet on each node, and the Deployment and ReplicaSet
  // controllers.
  bool simulate_kubelet = false;
  bool simulate_workloads = false;
};

// The embedded API server. It keeps all objects in memory, so they are lost
// when the process ends. All its work runs on the thread that calls Run().
class Server {
 public:
  // Starts to listen. Throws std::runtime_error if that fails. Raises the
  // process's soft limit on open files to the hard limit, because each client
  // has a connection.
  explicit Server(const ServerOptions& options);
  ~Server();

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // "http://127.0.0.1:34567"
  const std::string& url() const;
  // Returns a kubeconfig for this server.
  std::string Kubeconfig() const;

  // Creates the objects of a manifest, as `kubectl create -f` does. The
  // manifest is YAML or JSON, and may have several documents and lists. Call it
  // before Run(). `source` is the manifest's name in errors. Throws
  // std::runtime_error.
  void Load(const std::string& manifest, const std::string& source);

  // Serves until Stop() is called. Open watches then end properly.
  void Run();

  // Any thread may call the following functions, also before Run().
  void Stop();
  // Replaces the injected faults with those of a document in YAML or JSON
  // (faults.h); "{}" has none. `source` is the document's name in errors.
  // Throws std::runtime_error.
  void SetFaults(const std::string& document,
                 const std::string& source = "faults");
  // Drops the history of changes, as etcd's compaction does: a watch from an
  // earlier version fails with 410.
  void Compact();
  // Closes all connections and refuses new ones for `duration`, as if the
  // server were down. The objects stay.
  void GoAway(std::chrono::milliseconds duration);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace minisched::apiserver
