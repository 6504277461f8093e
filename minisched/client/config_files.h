#pragma once

#include <string>
#include <system_error>

namespace minisched {

// The files that a configuration is made of. All functions are thread-safe;
// no message holds what is in a file.

// What is in the file, to its end. Where it can't be read, sets `error`.
std::string ReadFile(const std::string& path, std::error_code& error);

// The same, but throws ConfigError: `where`, then why it can't be read.
std::string ReadFile(const std::string& path, const std::string& where);

// `text` without white space at both ends.
std::string TrimSpace(const std::string& text);

// The bearer token in `text`, fit for a header: printable ASCII with white
// space at the ends removed. Throws ConfigError, starting with `where`.
std::string ParseToken(const std::string& text, const std::string& where);

}  // namespace minisched
