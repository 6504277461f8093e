#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace minisched {

// A program's command line. A flag is added with the variable that it sets,
// whose value until then is the default. Names are given whole: "--seed", or
// "-v,--verbose". Not thread-safe.
class Flags {
 public:
  explicit Flags(const std::string& description);
  ~Flags();

  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  // `value` must outlive the parsing. `help` is one line.
  void Add(const std::string& names, std::string* value,
           const std::string& help);
  void Add(const std::string& names, int* value, const std::string& help);
  void Add(const std::string& names, double* value, const std::string& help);
  void Add(const std::string& names, bool* value, const std::string& help);
  void Add(const std::string& names, std::optional<std::uint64_t>* value,
           const std::string& help);
  // A flag that may be given several times, or with several values.
  void Add(const std::string& names, std::vector<std::string>* value,
           const std::string& help);
  // A flag that counts how often it is given: -v, -vv.
  void AddCount(const std::string& names, int* value, const std::string& help);

  // Reads the command line into the variables. Returns nullopt if the program
  // is to go on, else the code that it is to exit with: 0 after --help or
  // --version, 2 after saying on stderr which flag is wrong.
  std::optional<int> Parse(int argc, const char* const* argv,
                           const std::string& version);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace minisched
