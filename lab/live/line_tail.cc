#include "lab/live/line_tail.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace minisched::live {

LineTail::~LineTail() {
  if (file_ > STDIN_FILENO) close(file_);
}

void LineTail::Poll(
    const std::function<void(const std::string&, const std::string&)>& use) {
  while (Read()) {
    std::size_t begin = 0;
    for (auto end = text_.find('\n'); end != text_.npos;
         end = text_.find('\n', begin)) {
      const std::string line = text_.substr(begin, end - begin);
      begin = end + 1;
      use(line, path_ + ":" + std::to_string(++number_));
    }
    text_.erase(0, begin);
  }
}

bool LineTail::Read() {
  if (file_ < 0) {
    file_ =
        path_ == "-" ? STDIN_FILENO : open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0 && errno == ENOENT) return false;
  }
  pollfd ready{.fd = file_, .events = POLLIN, .revents = 0};
  if (file_ >= 0 && poll(&ready, 1, /*timeout=*/0) <= 0) return false;
  std::array<char, 1 << 16> buffer;
  const auto size = read(file_, buffer.data(), buffer.size());
  if (size < 0 && errno != EINTR && errno != EAGAIN) {
    throw std::runtime_error("cannot read " + path_ + ": " +
                             std::generic_category().message(errno));
  }
  if (size > 0) text_.append(buffer.data(), size);
  return size > 0;
}

}  // namespace minisched::live
