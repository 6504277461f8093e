#include "lab/scenario/programs.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "lab/scenario/errors.h"
#include "minisched/base/clock.h"
#include "minisched/client/errors.h"

namespace minisched::scenario {
namespace {

constexpr std::chrono::seconds kAcceptTimeout{30};
constexpr std::chrono::milliseconds kConnectEvery{10};
constexpr std::size_t kLinesShown = 15;

// Returns true if a program accepts connections on this port of 127.0.0.1.
bool AcceptsConnections(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool accepts =
      connect(connection, reinterpret_cast<const sockaddr*>(&address),
              sizeof address) == 0;
  close(connection);
  return accepts;
}

std::string DirectoryOf(const std::string& file) {
  const std::string directory = std::filesystem::path(file).parent_path();
  return directory.empty() ? "." : directory;
}

}  // namespace

Programs::One::One(const Program& of, const std::filesystem::path& directory,
                   bool free_port)
    : program(of),
      port(of.port),
      log(directory / ("program-" + std::to_string(of.port) + ".log")) {
  if (free_port) port = reserved.emplace().number();
}

Programs::Programs(const Scenario& scenario,
                   const std::filesystem::path& directory, bool free_ports)
    : directory_(DirectoryOf(scenario.file)) {
  for (const Program& program : scenario.programs) {
    programs_.emplace_back(program, directory, free_ports);
  }
}

std::map<int, int> Programs::ports() const {
  std::map<int, int> ports;
  for (const One& one : programs_) ports[one.program.port] = one.port;
  return ports;
}

void Programs::Start(std::string_view name, const std::stop_token& stop) {
  One& one = Find(name);
  if (one.process) return;
  one.process.emplace(
      fmt::format("cd {} || exit\n{}", ShellQuote(directory_),
                  one.program.command),
      std::map<std::string, std::string>{{"PORT", std::to_string(one.port)}},
      one.log);
  const std::string when =
      fmt::format(" before it accepted connections on port {}", one.port);
  const auto deadline = RealClock().Now() + kAcceptTimeout;
  while (!AcceptsConnections(one.port)) {
    Check(one, when);
    if (RealClock().Now() > deadline) {
      throw CannotPlay(fmt::format(
          "the program {} did not accept connections on port {}, its $PORT, "
          "within {} s",
          name, one.port, kAcceptTimeout.count()));
    }
    if (!RealClock().SleepFor(kConnectEvery, stop)) throw Cancelled();
  }
}

void Programs::Stop(std::string_view name) { Find(name).process.reset(); }

void Programs::Check() {
  for (One& one : programs_) Check(one, "");
}

void Programs::Check(One& one, const std::string& when) {
  if (!one.process) return;
  const auto ended = one.process->Ended();
  if (!ended) return;
  std::string last = LastLines(one.log, 1);
  if (!last.empty()) last.pop_back();  // the end of the line
  throw CannotPlay(fmt::format("the program {} exited with {}{}{}{}",
                               one.program.name, *ended, when,
                               last.empty() ? "" : ": ", last));
}

std::map<std::string, std::string> Programs::Logs() const {
  std::map<std::string, std::string> logs;
  for (const One& one : programs_) {
    std::string lines = LastLines(one.log, kLinesShown);
    if (!lines.empty()) logs[one.program.name] = std::move(lines);
  }
  return logs;
}

Programs::One& Programs::Find(std::string_view name) {
  return *std::find_if(programs_.begin(), programs_.end(), [&](const One& one) {
    return one.program.name == name;
  });
}

}  // namespace minisched::scenario
