#include "minisched/client/config_files.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>

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

}  // namespace

std::string ResolvePath(const std::string& kubeconfig,
                        const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path base = fs::absolute(kubeconfig).parent_path();
  return (base / path).lexically_normal().string();
}

std::string ReadFile(const std::string& path, std::error_code& error) {
  // Not a std::ifstream, which opens directories and loses errno.
  std::string text;
  error.clear();
  std::FILE* const file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) {
    error.assign(errno, std::generic_category());
    return text;
  }
  char buffer[4096];
  std::size_t size = 0;
  while ((size = std::fread(buffer, 1, sizeof buffer, file)) > 0) {
    text.append(buffer, size);
  }
  if (std::ferror(file) != 0) error.assign(errno, std::generic_category());
  std::fclose(file);
  return text;
}

std::string ReadFile(const std::string& path, const std::string& where) {
  std::error_code error;
  std::string text = ReadFile(path, error);
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
