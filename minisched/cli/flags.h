#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace minisched {

// A program's command line. Each flag sets a variable. The variable's value
// before Parse() is the flag's default. Names include the dashes: "--seed", or
// "-v,--verbose". A name without dashes is a positional argument. Not
// thread-safe.
class Flags {
 public:
  explicit Flags(const std::string& description);
  ~Flags();

  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  // Adds a flag. `value` must outlive Parse(). `help` is one line.
  void Add(const std::string& names, std::string* value,
           const std::string& help);
  // Rejects a value that is not from `min` to `max`.
  void Add(const std::string& names, int* value, const std::string& help,
           int min = std::numeric_limits<int>::min(),
           int max = std::numeric_limits<int>::max());
  void Add(const std::string& names, bool* value, const std::string& help);
  void Add(const std::string& names, std::optional<std::uint64_t>* value,
           const std::string& help);
  // Adds a flag that rejects an empty value.
  void AddNonEmpty(const std::string& names, std::string* value,
                   const std::string& help);
  // Adds a flag that may be given several times, or with several values.
  void Add(const std::string& names, std::vector<std::string>* value,
           const std::string& help);
  // Adds a flag that may be given several times, with one value each. The value
  // is taken as it is, even if it looks like a list: "[a, b]".
  void AddRepeated(const std::string& names, std::vector<std::string>* value,
                   const std::string& help);
  // Adds a flag whose value is passed to `parse`, which throws std::exception
  // if the value is wrong. `value_name` stands for the value in the help.
  void Add(const std::string& names,
           std::function<void(const std::string&)> parse,
           const std::string& value_name, const std::string& help);
  // Adds a flag that counts how often it is given: -v, -vv.
  void AddCount(const std::string& names, int* value, const std::string& help);

  // Parses the command line into the variables. Returns nullopt if the program
  // should continue, and otherwise its exit code: 0 after printing the help or
  // the version, 2 after printing the wrong flag on stderr.
  std::optional<int> Parse(int argc, const char* const* argv,
                           const std::string& version);

  // Returns true if Parse() has found the flag, such as "--seed".
  bool IsGiven(const std::string& name) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace minisched
