#include "minisched/base/printable.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace minisched {
namespace {

TEST(PrintableTest, EscapesControlCharactersAndBrokenUtf8) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", ""},
      {"plain text", "plain text"},
      {"\"quoted\" \\ {}", "\"quoted\" \\ {}"},
      {"Gr\xc3\xb6\xc3\x9f"
       "e \"1\" \\",
       "Gr\xc3\xb6\xc3\x9f"
       "e \"1\" \\"},
      {"a\nb\r\tc", "a\\nb\\r\\tc"},
      {"\x1b[31m", "\\x1b[31m"},
      {"\x7f", "\\x7f"},
      {std::string("\0", 1), "\\x00"},
      {"\xc2\x9b"
       "31m",
       "\\x9b31m"},
      {"\xc2\x85", "\\x85"},        // U+0085 ends a line
      {"\xe2\x80\xa8", "\\u2028"},  // U+2028 ends a line
      {"\xe2\x80\xae", "\\u202e"},  // U+202E reverses the text
      {"a\xff"
       "b",
       "a\\xffb"},
      {"a\xc3", "a\\xc3"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"}};
  for (const auto& [text, printable] : cases) {
    EXPECT_EQ(Printable(text), printable);
  }
}

}  // namespace
}  // namespace minisched
