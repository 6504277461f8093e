#pragma once

#include <cstdint>

namespace minisched::scenario {

// A free TCP port of 127.0.0.1, kept for a program that will listen on it. The
// program must set SO_REUSEADDR or SO_REUSEPORT, as servers usually do. Until
// the object is destroyed, the kernel gives the port to nobody that asks for
// any free port.
class ReservedPort {
 public:
  // Throws CannotPlay.
  ReservedPort();
  ~ReservedPort();

  ReservedPort(const ReservedPort&) = delete;
  ReservedPort& operator=(const ReservedPort&) = delete;

  std::uint16_t number() const { return number_; }

 private:
  int socket_;
  std::uint16_t number_ = 0;
};

}  // namespace minisched::scenario
