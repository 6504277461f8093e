#include "minisched/app/pace.h"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "minisched/api/duration.h"
#include "minisched/api/parse_error.h"
#include "minisched/base/log.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

// The limit keeps the time of the next pod within the clock's range.
constexpr std::chrono::hours kMaxEvery{24};

// How often the thread checks for a stop, which limits the time that the
// destructor blocks.
constexpr int kPollMilliseconds = 50;

// Makes read() return each key at once, without an echo. Ctrl-C still sends a
// signal.
void ReadSingleKeys(termios terminal) {
  terminal.c_lflag &= ~(ICANON | ECHO);
  terminal.c_cc[VMIN] = 1;
  terminal.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
}

}  // namespace

Pace ParsePace(const std::string& text) {
  if (text == "run") return {};
  if (text == "step") return {.by_key = true};
  try {
    const auto every = ParseDuration(text);
    if (every.count() > 0 && every <= kMaxEvery) return {.every = every};
  } catch (const ParseError&) {
    // The message below lists the valid values.
  }
  throw ParseError(Quoted(text) +
                   " is not a pace: use run, step, or a positive duration of "
                   "at most 24h, such as 500ms");
}

PaceSetter::PaceSetter(Trace& trace, const Pace& pace, std::stop_token stop,
                       Clock& clock)
    : trace_(trace), clock_(clock) {
  if (pace.every) {
    MutexLock lock(mu_);
    SetEvery(*pace.every);
  } else if (pace.by_key) {
    StartReadingKeys();
    on_stop_.emplace(std::move(stop), [this] { RestoreTerminal(); });
  }
}

PaceSetter::~PaceSetter() { RestoreTerminal(); }

void PaceSetter::Set(const std::string& pace) {
  std::optional<Clock::Duration> every;
  const bool is_word = pace == "run" || pace == "pause" || pace == "step";
  if (!is_word) every = ParsePace(pace).every;
  MutexLock lock(mu_);
  stepper_ = {};
  if (every) {
    SetEvery(*every);
    return;
  }
  pace_ = pace == "run" ? "run" : "pause";
  if (pace == "run") {
    trace_.Resume();
  } else if (pace == "pause") {
    trace_.Pause();
  } else {
    trace_.Step();
  }
}

std::string PaceSetter::pace() const {
  MutexLock lock(mu_);
  return pace_;
}

void PaceSetter::SetEvery(Clock::Duration every) {
  trace_.Pause();
  pace_ = FormatDuration(every);
  stepper_ = std::jthread([this, every](const std::stop_token& done) {
    while (clock_.SleepFor(every, done)) trace_.Step();
  });
}

void PaceSetter::StartReadingKeys() {
  termios terminal{};
  if (tcgetattr(STDIN_FILENO, &terminal) != 0) {
    throw ConfigError(
        "--pace step needs a terminal as standard input: without a terminal, "
        "use a duration such as --pace 1s");
  }
  // The kernel stops a background process that changes its terminal's settings.
  const pid_t foreground = tcgetpgrp(STDIN_FILENO);
  if (foreground != -1 && foreground != getpgrp()) {
    throw ConfigError(
        "--pace step needs the foreground of its terminal: start the program "
        "without &, or use a duration such as --pace 1s");
  }
  terminal_ = terminal;
  ReadSingleKeys(terminal);
  Set("pause");
  spdlog::info(
      "paused: r resumes, p pauses, every other key takes the next pod");
  keys_ = std::jthread([this](const std::stop_token& done) { ReadKeys(done); });
}

void PaceSetter::RestoreTerminal() const {
  if (terminal_) tcsetattr(STDIN_FILENO, TCSANOW, &*terminal_);
}

void PaceSetter::ReadKeys(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&input, 1, kPollMilliseconds) <= 0) continue;
    char key = 0;
    if (read(STDIN_FILENO, &key, 1) <= 0) return;  // the terminal is gone
    Set(key == 'r' ? "run" : key == 'p' ? "pause" : "step");
  }
}

}  // namespace minisched
