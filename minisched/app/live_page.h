#pragma once

#include <stop_token>
#include <string>

#include "minisched/app/pace.h"
#include "minisched/client/client.h"
#include "minisched/client/rest_config.h"
#include "minisched/live/collector.h"
#include "minisched/live/history.h"
#include "minisched/live/live_server.h"
#include "minisched/trace/trace.h"

namespace minisched {

struct LivePageOptions {
  unsigned short port = 0;  // 0 picks a free port
  bool control = false;     // whether a page may change anything
  std::string program;
  std::string scheduler_name;
  // The version of the API server; "" if it is not known yet.
  std::string server_version;
};

// The live page of a scheduler while the object exists. Has its own client, so
// that pages don't use up the scheduler's rate limit.
//
// On the embedded API server, which its version tells, a page needs no token
// and may change everything. On every other server, and if the version is not
// known, it needs a token, and may change something only with options.control.
class LivePage {
 public:
  // Throws ConfigError if the port can't be used. `trace` and `pace` must
  // outlive the page.
  LivePage(Trace& trace, PaceSetter& pace, const RestConfig& config,
           const LivePageOptions& options);

  // Returns the URL to open.
  const std::string& url() const { return server_.url(); }

 private:
  Client client_;
  live::History history_;
  live::Collector collector_;
  live::LiveServer server_;  // last: its thread uses the others
};

}  // namespace minisched
