// A mutator for fuzz targets whose inputs contain JSON documents, each on its
// own line. libFuzzer's own mutations seldom keep JSON valid. This mutator
// parses one of the documents, changes one or more values, and writes the
// document back. Include this header in only one file of a program, because it
// defines the function that libFuzzer calls.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                        std::size_t max_size);

namespace minisched {

class JsonMutator {
 public:
  using Json = nlohmann::json;

  explicit JsonMutator(unsigned seed) : random_(seed) {}

  // Returns a number below `limit`, which must be positive.
  std::size_t Below(std::size_t limit) { return random_() % limit; }

  // Changes one value of the document.
  void Mutate(Json& document) {
    std::vector<Json*> values;
    Collect(document, values);
    Json& value = *values[Below(values.size())];
    Json other = Below(2) == 0 ? Constant() : *values[Below(values.size())];
    if (value.is_object() && Below(4) != 0) {
      MutateObject(value, *values[Below(values.size())], std::move(other));
    } else if (value.is_array() && Below(4) != 0) {
      MutateList(value, std::move(other));
    } else if (value.is_string() && Below(2) == 0) {
      value = MutateText(value.get<std::string>());
    } else if (value.is_number_integer() && Below(2) == 0) {
      value = value.get<std::int64_t>() ^ (std::int64_t{1} << Below(63));
    } else {
      value = std::move(other);
    }
  }

 private:
  static constexpr std::size_t kMaxValues = 10'000;
  static constexpr std::size_t kMaxText = 300;

  static void Collect(Json& value, std::vector<Json*>& values) {
    if (values.size() >= kMaxValues) return;
    values.push_back(&value);
    if (!value.is_structured()) return;
    for (Json& inner : value) Collect(inner, values);
  }

  Json Constant() {
    static const Json kConstants = Json::parse(R"([
        null, true, false, 0, 1, -1, 101, 65536, 2147483647, -2147483648,
        2147483648, 9223372036854775807, -9223372036854775808,
        18446744073709551615, 0.5, 1e300, -1e-300, "", "a", "0", "1", "100m",
        "1Gi", "25%", "*", "2026-11-21T10:00:00Z",
        "2026-11-21T10:00:00.000000Z", [], {}, [{}], [null], [""]])");
    return kConstants[Below(kConstants.size())];
  }

  // Adds, replaces, renames or removes a member. A new key is a key of `donor`,
  // "a", or a mutation of one of these.
  void MutateObject(Json& object, const Json& donor, Json value) {
    const auto member = [&](auto& of) {
      return std::next(of.begin(),
                       static_cast<std::ptrdiff_t>(Below(of.size())));
    };
    std::string key = "a";
    if (donor.is_object() && !donor.empty()) key = member(donor).key();
    if (Below(4) == 0) key = MutateText(key);
    if (object.empty() || Below(2) == 0) {
      object[key] = std::move(value);
      return;
    }
    const auto old = member(object);
    value = std::move(old.value());
    object.erase(old);
    if (Below(2) == 0) object[key] = std::move(value);
  }

  // Inserts, duplicates, moves or removes an element. May change nothing.
  void MutateList(Json& list, Json value) {
    const auto place = [&](std::size_t limit) {
      return list.begin() + static_cast<std::ptrdiff_t>(Below(limit));
    };
    if (!list.empty() && Below(2) == 0) {
      const auto old = place(list.size());
      value = *old;
      if (Below(3) != 0) list.erase(old);
      if (Below(2) == 0) return;
    }
    list.insert(place(list.size() + 1), std::move(value));
  }

  static std::string MutateText(std::string text) {
    text.resize(std::min(text.size(), kMaxText));
    std::vector<std::uint8_t> bytes(text.begin(), text.end());
    const std::size_t size = bytes.size();
    bytes.resize(size + 16);
    bytes.resize(LLVMFuzzerMutate(bytes.data(), size, bytes.size()));
    // Keep to ASCII: random bytes above 0x7f are seldom valid UTF-8.
    for (std::uint8_t& byte : bytes) byte &= 0x7f;
    return {bytes.begin(), bytes.end()};
  }

  std::minstd_rand random_;
};

// Returns the start and the length of each line that may be JSON.
inline std::vector<std::pair<std::size_t, std::size_t>> JsonLines(
    std::string_view text) {
  std::vector<std::pair<std::size_t, std::size_t>> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    if (text[start] == '{' || text[start] == '[') {
      lines.emplace_back(start, end - start);
    }
    start = end + 1;
  }
  return lines;
}

}  // namespace minisched

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                               std::size_t size,
                                               std::size_t max_size,
                                               unsigned seed) {
  using minisched::JsonMutator;
  JsonMutator mutator(seed);
  std::string text(reinterpret_cast<const char*>(data), size);
  const auto lines = minisched::JsonLines(text);
  if (lines.empty() || mutator.Below(8) == 0) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  const auto [start, length] = lines[mutator.Below(lines.size())];
  auto json = JsonMutator::Json::parse(text.substr(start, length), nullptr,
                                       /*allow_exceptions=*/false);
  if (json.is_discarded()) return LLVMFuzzerMutate(data, size, max_size);
  do {
    mutator.Mutate(json);
  } while (mutator.Below(3) == 0);
  text.replace(start, length, json.dump());
  if (text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
