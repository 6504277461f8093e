#pragma once

#include <stop_token>
#include <string>
#include <system_error>

namespace minisched {

// Functions for the files of a configuration. All are thread-safe. No message
// contains a file's contents.

// Returns the absolute path of a file that a kubeconfig names. File names are
// relative to the kubeconfig's directory.
std::string ResolvePath(const std::string& kubeconfig, const std::string& path);

// Returns the contents of a file, a pipe or a device. Sets `error` if it can't
// be read. Blocks until the writers of a pipe have closed it: the shell's
// `<(command)` is a pipe, and so is a FIFO, which may have no writer yet. Logs
// that it waits. Throws Cancelled if `stop` asks to stop meanwhile.
std::string ReadFileOrPipe(const std::string& path, const std::stop_token& stop,
                           std::error_code& error);

// Does the same, but throws ConfigError if the file can't be read; the message
// starts with `where`.
std::string ReadFileOrPipe(const std::string& path, const std::string& where,
                           const std::stop_token& stop);

// Returns the contents of a regular file. Throws ConfigError if the file can't
// be read, or is not a regular file, which might block; the message starts with
// `where`.
std::string ReadFile(const std::string& path, const std::string& where);

// Returns the bearer token in `text`, without white space at both ends. Throws
// ConfigError unless the token is printable ASCII without spaces, as an HTTP
// header needs it; the message starts with `where`.
std::string ParseToken(const std::string& text, const std::string& where);

}  // namespace minisched
