#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace minisched::live {

// Follows a file to which a program appends lines, or a pipe.
class LineTail {
 public:
  // The file need not exist yet. "-" is standard input.
  explicit LineTail(std::string path) : path_(std::move(path)) {}
  ~LineTail();

  LineTail(const LineTail&) = delete;
  LineTail& operator=(const LineTail&) = delete;

  // Calls `use` with each line that is complete since the last call, and with
  // "FILE:NUMBER", its place. Does not wait for more lines. Throws
  // std::runtime_error if the file can't be read.
  void Poll(const std::function<void(const std::string& line,
                                     const std::string& place)>& use);

 private:
  // Returns false if there is nothing to read now.
  bool Read();

  const std::string path_;
  int file_ = -1;
  std::uint64_t number_ = 0;  // of the last line
  std::string text_;          // without an end of a line yet
};

}  // namespace minisched::live
