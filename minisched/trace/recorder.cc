#include "minisched/trace/recorder.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/api/raw_object.h"
#include "minisched/api/time.h"
#include "minisched/base/log.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

// How long the recorder lets records, changes of objects and lines collect
// before it reads or writes them. Waking up for each one would cost the
// scheduler more than the lines themselves.
constexpr std::chrono::milliseconds kPeriod{20};

std::string ErrorText() { return std::generic_category().message(errno); }

std::FILE* Create(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_regular_file(status)) {
    throw ConfigError("--record " + path +
                      ": the file exists already: remove it, or name another");
  }
  const bool exists = std::filesystem::exists(status);
  std::FILE* file = std::fopen(path.c_str(), exists ? "we" : "wxe");
  if (file == nullptr) {
    throw ConfigError("--record " + path +
                      ": cannot create the file: " + ErrorText());
  }
  return file;
}

// Blocks SIGPIPE on this thread while the object exists. Threads that this
// thread starts in that time inherit the block for their whole life. On all of
// these threads, a write into a pipe without a reader fails instead of ending
// the program.
class BlockSigpipe {
 public:
  BlockSigpipe() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~BlockSigpipe() {
    const timespec at_once{};
    sigtimedwait(&sigpipe_, nullptr, &at_once);  // discards a SIGPIPE
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  BlockSigpipe(const BlockSigpipe&) = delete;
  BlockSigpipe& operator=(const BlockSigpipe&) = delete;

 private:
  sigset_t sigpipe_;
  sigset_t before_;
};

// Returns the kind and the name of an object, for the line of its deletion.
template <class T>
std::string Reference(const ObjectMeta& metadata) {
  nlohmann::json object{{"apiVersion", T::kResource.ApiVersion()},
                        {"kind", T::kResource.kind},
                        {"metadata", {{"name", metadata.name}}}};
  if (!metadata.namespace_name.empty()) {
    object["metadata"]["namespace"] = metadata.namespace_name;
  }
  return object.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true);
}

}  // namespace

Recorder::Recorder(Trace& trace, Client& client, const std::string& path,
                   Clock& clock)
    : trace_(trace),
      clock_(clock),
      path_(path),
      reader_(trace, AttemptDetail::kAllRejections),
      file_(Create(path)),
      informers_(client, clock) {
  const BlockSigpipe block;
  AddHandlers<Node>();
  AddHandlers<Pod>();
  informers_.Start({});
  thread_ =
      std::jthread([this](const std::stop_token& stop) { WriteRecords(stop); });
}

Recorder::~Recorder() {
  informers_.Shutdown();
  thread_.request_stop();
  thread_.join();
  const BlockSigpipe block;
  MutexLock lock(mu_);
  file_.reset();
}

template <class T>
void Recorder::AddHandlers() {
  using Object = std::shared_ptr<const RawObject<T>>;
  auto& informer = informers_.Add<RawObject<T>>({.read_delay = kPeriod});
  informer.AddEventHandler(
      {.on_add = [this](const Object& object,
                        bool) { WriteObject("Add", object->json); },
       .on_update =
           [this](const Object&, const Object& now) {
             WriteObject("Update", now->json);
           },
       .on_delete =
           [this](const Object& last) {
             WriteObject("Delete", Reference<T>(last->metadata));
           }});
}

void Recorder::WriteObject(std::string_view event, std::string_view json) {
  Write(fmt::format(R"({{"time":"{}","event":"{}","resource":{}}})",
                    FormatMicroTime(clock_.WallNow()), event, json));
}

void Recorder::WriteRecords(const std::stop_token& stop) {
  bool more = true;
  while (more) {
    more = clock_.SleepFor(kPeriod, stop);
    trace_.ReportQueue();
    RecordLines lines(reader_.Poll());
    if (reader_.missing() > 0) {
      spdlog::warn("the recording is too slow: {} records are missing",
                   reader_.missing());
    }
    while (!lines.empty()) Write(lines.Next());
    MutexLock lock(mu_);
    Check(std::fflush(file_.get()) == 0);
  }
}

void Recorder::Write(std::string_view line) {
  MutexLock lock(mu_);
  if (failed_) return;
  std::FILE* file = file_.get();
  Check(std::fwrite(line.data(), 1, line.size(), file) == line.size() &&
        std::fputc('\n', file) != EOF);
}

void Recorder::Check(bool written) {
  if (written || failed_) return;
  failed_ = true;
  spdlog::error("cannot write {}: {}: the recording ends here", path_,
                ErrorText());
}

}  // namespace minisched
