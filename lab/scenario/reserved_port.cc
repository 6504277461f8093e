#include "lab/scenario/reserved_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "lab/scenario/errors.h"

namespace minisched::scenario {

// A socket that is bound, but does not listen, keeps its port, and yet does not
// stop another one from listening there.
ReservedPort::ReservedPort()
    : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      setsockopt(socket_, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0 ||
      bind(socket_, generic, size) != 0 ||
      getsockname(socket_, generic, &size) != 0) {
    const std::string why = std::strerror(errno);
    close(socket_);
    throw CannotPlay("failed to reserve a port: " + why);
  }
  number_ = ntohs(address.sin_port);
}

ReservedPort::~ReservedPort() { close(socket_); }

}  // namespace minisched::scenario
