#include "minisched/client/keep_alive.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace minisched {
namespace {

constexpr int kIdleSeconds = 30;
constexpr int kIntervalSeconds = 15;
constexpr int kProbes = 9;

// Returns the port of the peer; -1 if there is no peer.
int PeerPort(int descriptor) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) != 0) {
    return -1;
  }
  switch (peer.ss_family) {
    case AF_INET:
      return ntohs(reinterpret_cast<const sockaddr_in&>(peer).sin_port);
    case AF_INET6:
      return ntohs(reinterpret_cast<const sockaddr_in6&>(peer).sin6_port);
    default:
      return -1;
  }
}

void KeepAlive(int descriptor) {
  const auto set = [descriptor](int level, int option, int value) {
    setsockopt(descriptor, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kIntervalSeconds);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
}

}  // namespace

void KeepConnectionsAlive(int port) {
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  for (; !error && entry != end(entry); entry.increment(error)) {
    const std::string name = entry->path().filename();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    if (PeerPort(descriptor) == port) KeepAlive(descriptor);
  }
}

}  // namespace minisched
