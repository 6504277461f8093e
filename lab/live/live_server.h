#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lab/live/history.h"
#include "minisched/base/clock.h"
#include "minisched/http/http.h"

namespace minisched::live {

struct LiveOptions {
  // 0 picks a free port.
  unsigned short port = 0;
  // See Access.
  std::string token;
  bool control = false;
  // Shown by the page: the scheduler's program, the schedulerName of its pods,
  // and where the items come from: the URL of the API server, or "a recording".
  std::string program;
  std::string scheduler;
  std::string source;
  // Whether the items are a recording, to which nothing is added.
  bool recording = false;
  // The number of items before the moment of the recording that a page shows
  // first. nullopt: the end.
  std::optional<std::size_t> moment;
};

// What a page can do besides showing items. Each function may be absent: then
// the server refuses the requests for it, and the event "start" of each page
// says so. The functions are called on the server's thread, and must not block
// for long.
struct LiveActions {
  // May be called once, on any thread. Calls after the server's end have no
  // effect.
  using Respond = std::function<void(http::Reply)>;
  // Answers a request whose response takes longer.
  using Exchange = std::function<void(http::Request, Respond)>;

  // Fills the history. Called when a page connects, and then about every 50 ms
  // with the number of connected pages until it returns false.
  std::function<bool(std::size_t pages)> collect;
  // Returns the full record of an attempt. The path of the request is its name:
  // "UID/NUMBER".
  Exchange attempt;
  // Sets the pace of the scheduler: "run", "pause", "step", or a duration.
  Exchange pace;
  // Ends a pod's wait on Permit.
  Exchange end_wait;
  // Asks for all rejections of the next attempts, or for the first ones.
  Exchange all_rejections;
  // Passes a request on to the API server. The request has the path there.
  Exchange api;
  // Returns the cluster's objects, creates the objects of the body, and makes
  // the cluster what it was at the start.
  Exchange export_objects;
  Exchange import_objects;
  Exchange reset;
  // Returns the configuration of the scheduler as YAML or, after a PUT,
  // restarts the scheduler with the one of the body.
  Exchange config;
};

// Returns the reply to LiveActions::attempt with the record of this name, or
// nullopt if there is none.
http::Reply AttemptReply(const std::string& name,
                         std::optional<std::string> record);

// Serves the live page, on the loopback interface only, on a thread of its own:
//
//   GET /                       the page; /live.js and /live.css belong to it
//   GET /live/events            an EventStream of the history
//   GET /live/attempts/UID/N    the full record of an attempt
//   …   /live/api/PATH          requests for PATH of the API server
//   POST /live/pace             {"pace": "run" | "pause" | "step" | "500ms"}
//   POST /live/waiting          {"uid", "allow"}
//   POST /live/all-rejections   {"on"}
//   GET /live/export, POST /live/import, POST /live/reset
//
// Access has the rules for all requests. Each error is {"error": message}, or
// the API server's Status.
class LiveServer {
 public:
  // The most pages that are connected at a time, and the most connections.
  static constexpr std::size_t kMaxStreams = 16;
  static constexpr std::size_t kMaxConnections = 100;

  // Starts to listen. Throws std::runtime_error if listening fails. `history`
  // must outlive the server, and so must what the actions use, and `clock`.
  LiveServer(LiveOptions options, const History& history, LiveActions actions,
             Clock& clock = RealClock());
  // Closes all connections. Blocks only while an action runs.
  ~LiveServer();

  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;

  // Returns the URL to open, with the port that was picked and the token.
  const std::string& url() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace minisched::live
