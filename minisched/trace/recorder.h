#pragma once

#include <cstdio>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "minisched/api/meta.h"
#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/client/client.h"
#include "minisched/informer/shared_informer_factory.h"
#include "minisched/trace/trace.h"

namespace minisched {

// Writes a trace to a file while the object exists, as JSON lines: the records,
// with those of the order of activeQ about every 20 ms if it changes, and a
// line for each change of a pod or node in the cluster. The latter lines have
// the form of kube-scheduler-simulator's recorder: they contain the object as
// the server sent it or, after a deletion, only its kind and name.
// docs/reference/trace.md describes the lines.
//
// Each line is written within about 40 ms. Only the last line of a file can be
// cut off. If a write fails, logs one error and writes no more lines.
class Recorder {
 public:
  // Creates the file. Throws ConfigError if the file can't be created or
  // already exists, because a recording never replaces a file. `path` may also
  // be an existing pipe or device. `trace`, `client` and `clock` must outlive
  // the recorder.
  Recorder(Trace& trace, Client& client, const std::string& path,
           Clock& clock = RealClock());
  // Blocks until the remaining records of the trace are written.
  ~Recorder();

  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  template <class T>
  void AddHandlers() EXCLUDES(mu_);
  void WriteObject(std::string_view event, std::string_view json) EXCLUDES(mu_);
  void WriteRecords(const std::stop_token& stop) EXCLUDES(mu_);
  void Write(std::string_view line) EXCLUDES(mu_);
  // Logs an error if `written` is false, unless a write has failed before.
  void Check(bool written) REQUIRES(mu_);

  Trace& trace_;
  Clock& clock_;
  const std::string path_;
  TraceReader reader_;
  Mutex mu_;
  std::unique_ptr<std::FILE, CloseFile> file_ GUARDED_BY(mu_);
  bool failed_ GUARDED_BY(mu_) = false;
  SharedInformerFactory informers_;
  std::jthread thread_;
};

}  // namespace minisched
