#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "lab/live/collector.h"
#include "lab/live/line_tail.h"
#include "lab/live/live_server.h"
#include "lab/live/managed_scheduler.h"
#include "lab/live/other_scheduler.h"
#include "lab/live/trace_tail.h"
#include "lab/scenario/reserved_port.h"
#include "minisched/base/mutex.h"
#include "minisched/client/client.h"
#include "minisched/client/kubeconfig.h"

namespace minisched::live {

struct ClusterOptions {
  ConfigFlags config;
  unsigned short port = 0;                           // 0 picks a free port
  bool control = false;                              // see LivePageOptions
  std::string scheduler_name = "default-scheduler";  // of the pods to show
  std::string records;    // a file with records, "-" for standard input, or ""
  std::string trace;      // the URL of a scheduler that serves its trace, or ""
  std::string scheduler;  // the command that starts the scheduler, or ""
  std::string config_file;  // the scheduler's configuration, or ""
};

// A scheduler in another process, and what is known of it: its trace, its
// records in a file, or what pods and events show.
class SchedulerSource {
 public:
  // Starts the scheduler of options.scheduler, and waits for the trace. Throws
  // std::runtime_error, and Cancelled when `stop` asks to stop. `client` must
  // outlive the object. REQUIRES: called on the main thread.
  SchedulerSource(const ClusterOptions& options, Client& client,
                  const std::stop_token& stop);

  SchedulerSource(const SchedulerSource&) = delete;
  SchedulerSource& operator=(const SchedulerSource&) = delete;

  // Returns the spec.schedulerName of the scheduler's pods.
  const std::string& name() const { return name_; }
  std::string program() const { return trace_ ? info_.program : name_; }

  // Adds what pages can do with this scheduler.
  void AddActions(LiveActions& actions);

  // Collects what is new. Reads a trace only while a page is connected, and for
  // a minute after that. Call it often, on the main thread.
  void Collect(Collector& collector);

 private:
  void StartScheduler(const ClusterOptions& options, std::string& url);
  void PollRecords();
  // Reads the trace while a page is connected. Returns false if none is.
  bool ReadTrace(Collector& collector);
  // Reads lines of the trace, up to the first malformed one.
  void ReadRecords(const std::vector<std::string>& lines);
  void StopReading() EXCLUDES(mu_);

  // Responds when the scheduler is connected with the new detail.
  void AskForAllRejections(const http::Request& request,
                           const LiveActions::Respond& respond) EXCLUDES(mu_);
  bool IsAskedForAllRejections() EXCLUDES(mu_);
  // Answers the last request for all rejections, or for the first ones.
  void Answer(bool all_rejections, http::Reply reply) EXCLUDES(mu_);

  std::string name_;
  SchedulerInfo info_;
  const scenario::ReservedPort port_;
  std::optional<ManagedScheduler> managed_;
  bool has_config_ = false;
  std::optional<TraceTail> trace_;
  std::optional<LineTail> records_;
  std::optional<OtherScheduler> scheduler_;
  std::atomic<std::size_t> pages_ = 0;
  std::string malformed_;  // what is wrong with a record of the trace, or ""
  bool has_reported_ = false;  // moves of pods, or the order of activeQ
  bool is_collecting_ = false;
  bool is_caught_up_ = false;
  Mutex mu_;
  bool all_rejections_ GUARDED_BY(mu_) = false;
  LiveActions::Respond respond_ GUARDED_BY(mu_);  // until the next connection
};

}  // namespace minisched::live
