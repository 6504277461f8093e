#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace minisched::apiserver {

struct ServerOptions {
  std::string address = "127.0.0.1";
  // 0 picks one that is free.
  unsigned short port = 0;
  // What a kubelet would do on each node, and what the Deployment and
  // ReplicaSet controllers would do.
  bool simulate_kubelet = false;
  bool simulate_workloads = false;
};

// The embedded API server: in memory, gone with the process. Everything in it
// happens on the thread that calls Run().
class Server {
 public:
  // Listens at once. Throws std::runtime_error where it can't.
  explicit Server(const ServerOptions& options);
  ~Server();

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // "http://127.0.0.1:34567"
  const std::string& url() const;
  // A kubeconfig that leads here.
  std::string Kubeconfig() const;

  // Creates the objects of a manifest, as `kubectl create -f` would: YAML or
  // JSON, several documents, lists. Before Run(). `source` is what errors call
  // it. Throws std::runtime_error.
  void Load(const std::string& manifest, const std::string& source);

  // Serves until Stop() is called; open watches end properly.
  void Run();

  // The following any thread may call, before Run() too.
  void Stop();
  // Misbehaves from now on as that document has it, YAML or JSON (faults.h), in
  // place of what it had; "{}" ends it. `source` is what errors call it. Throws
  // std::runtime_error.
  void SetFaults(const std::string& document,
                 const std::string& source = "faults");
  // Forgets what changed until now, as etcd's compaction does: a watch from a
  // version before gets its 410.
  void Compact();
  // For that long it is as if there were no server: connections are refused,
  // and those that there are are broken off. All objects are there after it.
  void GoAway(std::chrono::milliseconds duration);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace minisched::apiserver
