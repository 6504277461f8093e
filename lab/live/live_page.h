#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "lab/live/collector.h"
#include "lab/live/history.h"
#include "lab/live/live_server.h"
#include "lab/live/transfer.h"
#include "minisched/client/client.h"
#include "minisched/client/rest_config.h"

namespace minisched {

struct LivePageOptions {
  unsigned short port = 0;  // 0 picks a free port
  bool control = false;     // whether a page may change anything
  std::string program;
  std::string scheduler_name;
  // The version of the API server; "" if it is not known yet.
  std::string server_version;
  // Adds what pages can do with the scheduler, if set.
  std::function<void(live::LiveActions&)> add_actions;
};

// The live page of a cluster and its scheduler while the object exists.
//
// On the embedded API server, which its version tells, a page needs no token
// and may change everything. On every other server, and if the version is not
// known, it needs a token, and may change something only with options.control.
//
// It may import objects and reset the cluster only on the embedded API server
// and on clusters of scripts/cluster, which have labelled their namespace
// kube-system with minisched-cluster=disposable.
class LivePage {
 public:
  // Throws ConfigError if the port can't be used, and Cancelled when `stop`
  // asks to stop. `clock` must outlive the page.
  LivePage(const RestConfig& config, const LivePageOptions& options,
           const std::stop_token& stop, Clock& clock = RealClock());

  // Returns the URL to open.
  const std::string& url() const { return server_->url(); }

  Client& client() { return client_; }
  live::Collector& collector() { return collector_; }

 private:
  Client client_;
  live::History history_;
  live::Collector collector_;
  live::Transfer transfer_;
  // Last: its thread uses the others.
  std::optional<live::LiveServer> server_;
};

}  // namespace minisched
