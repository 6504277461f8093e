#pragma once

#include <termios.h>

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/trace/trace.h"

namespace minisched {

// How fast a scheduler takes pods.
struct Pace {
  bool by_key = false;                   // a key press takes the next pod
  std::optional<Clock::Duration> every;  // the time between two pods
};

// Parses "run", "step" or a positive duration of at most 24 hours, such as
// "500ms". Throws ParseError.
Pace ParsePace(const std::string& text);

// Sets the pace of a scheduler while the object exists. Thread-safe.
class PaceSetter {
 public:
  // Starts a thread unless the pace is "run". For "step", the thread reads
  // single keys from the terminal: r resumes, p pauses, every other key takes
  // the next pod. For "step", throws ConfigError if standard input isn't a
  // terminal, or if the program runs in the terminal's background. `trace` and
  // `clock` must outlive the object.
  //
  // Restores the terminal as soon as `stop` asks to stop, because a second
  // signal may end the program before the destructor runs.
  PaceSetter(Trace& trace, const Pace& pace, std::stop_token stop,
             Clock& clock = RealClock());
  // Restores the terminal and waits for the thread to end. A paused scheduler
  // stays paused.
  ~PaceSetter();

  PaceSetter(const PaceSetter&) = delete;
  PaceSetter& operator=(const PaceSetter&) = delete;

  // Replaces the pace: "run", "pause", "step", which takes the next pod at
  // once, or the time between two pods. Throws ParseError.
  void Set(const std::string& pace) EXCLUDES(mu_);
  // Returns the present pace: "run", "pause", or the time between two pods,
  // such as "500ms".
  std::string pace() const EXCLUDES(mu_);

 private:
  // Pauses the scheduler, and then lets it take a pod after each `every`.
  void SetEvery(Clock::Duration every) REQUIRES(mu_);
  void StartReadingKeys();
  void ReadKeys(const std::stop_token& stop);
  void RestoreTerminal() const;

  Trace& trace_;
  Clock& clock_;
  // For "step": the terminal's settings to restore.
  std::optional<termios> terminal_;
  mutable Mutex mu_;
  std::string pace_ GUARDED_BY(mu_) = "run";
  std::jthread stepper_ GUARDED_BY(mu_);
  std::jthread keys_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

}  // namespace minisched
