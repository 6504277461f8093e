#include "minisched/client/config_files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "minisched/base/log.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

// Returns `text` without white space at both ends.
std::string TrimSpace(const std::string& text) {
  const char* const space = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(space);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

std::error_code LastError() { return {errno, std::generic_category()}; }

// A file that was opened for reading without waiting for a writer.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : file_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (file_ < 0 || fstat(file_, &status_) != 0) error_ = LastError();
    if (!error_ && S_ISDIR(status_.st_mode)) {
      error_ = std::make_error_code(std::errc::is_a_directory);
    }
  }
  ~OpenFile() {
    if (file_ >= 0) close(file_);
  }

  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const std::error_code& error() const { return error_; }
  bool IsRegular() const { return S_ISREG(status_.st_mode); }

  // Reads the file to its end.
  std::string Read(const std::stop_token& stop, const std::string& path,
                   std::error_code& error) const {
    if (S_ISFIFO(status_.st_mode)) AwaitData(stop, path);
    std::string text;
    char buffer[4096];
    while (true) {
      const ssize_t size = read(file_, buffer, sizeof buffer);
      if (size == 0) return text;
      if (size > 0) {
        text.append(buffer, static_cast<std::size_t>(size));
      } else if (errno == EAGAIN) {
        AwaitData(stop, path);
      } else if (errno != EINTR) {
        error = LastError();
        return text;
      }
    }
  }

 private:
  // Blocks until there are data, or all writers have closed the pipe. A FIFO
  // that has had no writer yet is at its end for read(), but not for poll().
  void AwaitData(const std::stop_token& stop, const std::string& path) const {
    const int stopped = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pollfd files[] = {{file_, POLLIN, 0}, {stopped, POLLIN, 0}};
    {
      const std::stop_callback wake(stop, [&] { eventfd_write(stopped, 1); });
      if (poll(files, std::size(files), 0) == 0) {
        spdlog::info("waiting for the writer of the pipe {}", path);
      }
      while (poll(files, std::size(files), -1) < 0 && errno == EINTR) {
      }
    }
    close(stopped);
    if (files[1].revents != 0) throw Cancelled();
  }

  const int file_;
  struct stat status_ {};
  std::error_code error_;
};

}  // namespace

std::string ResolvePath(const std::string& kubeconfig,
                        const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path base = fs::absolute(kubeconfig).parent_path();
  return (base / path).lexically_normal().string();
}

std::string ReadFileOrPipe(const std::string& path, const std::stop_token& stop,
                           std::error_code& error) {
  const OpenFile file(path);
  error = file.error();
  if (error) return "";
  return file.Read(stop, path, error);
}

std::string ReadFileOrPipe(const std::string& path, const std::string& where,
                           const std::stop_token& stop) {
  std::error_code error;
  std::string text = ReadFileOrPipe(path, stop, error);
  if (error) throw ConfigError(where + ": " + error.message());
  return text;
}

std::string ReadFile(const std::string& path, const std::string& where) {
  const OpenFile file(path);
  std::error_code error = file.error();
  if (!error && !file.IsRegular()) {
    throw ConfigError(where + ": not a regular file");
  }
  std::string text;
  if (!error) text = file.Read({}, path, error);
  if (error) throw ConfigError(where + ": " + error.message());
  return text;
}

std::string ParseToken(const std::string& text, const std::string& where) {
  std::string token = TrimSpace(text);
  if (token.empty()) throw ConfigError(where + " is empty");
  // A line break in a header would start another header.
  for (const unsigned char c : token) {
    if (c <= ' ' || c >= '\x7f') {
      throw ConfigError(where +
                        " is not a token: it has spaces or bytes that "
                        "are not printable ASCII");
    }
  }
  return token;
}

}  // namespace minisched
