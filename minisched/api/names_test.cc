#include "minisched/api/names.h"

#include <gmock/gmock.h>

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kNoLabel[] =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric "
    "characters or '-', and must start and end with an alphanumeric character "
    "(e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const std::string kNoSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
    "characters, '-' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'example.com', regex used for validation is "
    R"('[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'))";

const std::string kNoName =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
    "'123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

constexpr char kNoValue[] =
    "a valid label must be an empty string or consist of alphanumeric "
    "characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

TEST(NamesTest, DnsLabels) {
  for (const std::string& text :
       {std::string("a"), std::string("0-a--9"), std::string(63, 'a')}) {
    EXPECT_THAT(CheckDns1123Label(text), IsEmpty()) << text;
  }
  for (const std::string text :
       {"", "-", "-a", "a-", "A", "a_b", "a b", "a\n", "a.", ".", "A.b", "ä"}) {
    EXPECT_THAT(CheckDns1123Label(text), ElementsAre(kNoLabel)) << text;
  }
  EXPECT_THAT(CheckDns1123Label("a.b"), ElementsAre("must not contain dots"));
  constexpr char kTooLong[] = "must be no more than 63 characters";
  EXPECT_THAT(CheckDns1123Label(std::string(64, 'a')), ElementsAre(kTooLong));
  EXPECT_THAT(CheckDns1123Label(std::string(64, 'A')),
              ElementsAre(kTooLong, kNoLabel));
  EXPECT_THAT(CheckDns1123Label("a." + std::string(64, 'a')),
              ElementsAre(kTooLong, "must not contain dots"));
}

TEST(NamesTest, DnsSubdomains) {
  // The parts may be longer than a DNS label.
  for (const std::string& text :
       {std::string("a"), std::string("a-1.2.b"), std::string(253, 'a')}) {
    EXPECT_THAT(CheckDns1123Subdomain(text), IsEmpty()) << text;
  }
  for (const std::string text :
       {"", ".", "a.", ".a", "a..b", "a-.b", "a.-b", "A.b", "a_b", "a/b"}) {
    EXPECT_THAT(CheckDns1123Subdomain(text), ElementsAre(kNoSubdomain)) << text;
  }
  constexpr char kTooLong[] = "must be no more than 253 characters";
  EXPECT_THAT(CheckDns1123Subdomain(std::string(254, 'a')),
              ElementsAre(kTooLong));
  EXPECT_THAT(CheckDns1123Subdomain(std::string(254, '.')),
              ElementsAre(kTooLong, kNoSubdomain));
}

TEST(NamesTest, LabelKeys) {
  const std::string longest_name(63, 'k');
  const std::string longest_prefix = std::string(249, 'p') + ".com";
  for (const std::string& text :
       {std::string("a"), std::string("1-A_b.2"), std::string("a.b-c/D"),
        std::string("1.2/3"), longest_prefix + "/" + longest_name}) {
    EXPECT_THAT(CheckLabelKey(text), IsEmpty()) << text;
  }
  for (const std::string text : {"-a", "a.", "a b", "ä", "_", "a\n"}) {
    EXPECT_THAT(CheckLabelKey(text), ElementsAre("name part " + kNoName));
  }
  for (const std::string text : {"A.b/c", "a..b/c", "a-.b/c", "a_b/c"}) {
    EXPECT_THAT(CheckLabelKey(text),
                ElementsAre("prefix part " + kNoSubdomain));
  }
  EXPECT_THAT(
      CheckLabelKey("a/b/c"),
      ElementsAre("a valid label key " + kNoName +
                  " with an optional DNS subdomain prefix and '/' (e.g. "
                  "'example.com/MyName')"));
}

TEST(NamesTest, RejectsEmptyAndTooLongPartsOfLabelKeys) {
  const std::string no_name = "name part " + kNoName;
  EXPECT_THAT(CheckLabelKey(""),
              ElementsAre("name part must be non-empty", no_name));
  EXPECT_THAT(CheckLabelKey("a/"),
              ElementsAre("name part must be non-empty", no_name));
  EXPECT_THAT(CheckLabelKey("/a"),
              ElementsAre("prefix part must be non-empty"));
  EXPECT_THAT(CheckLabelKey("/"),
              ElementsAre("prefix part must be non-empty",
                          "name part must be non-empty", no_name));
  EXPECT_THAT(CheckLabelKey(std::string(254, 'a') + "/" + std::string(64, 'b')),
              ElementsAre("prefix part must be no more than 253 bytes",
                          "name part must be no more than 63 bytes"));
  EXPECT_THAT(CheckLabelKey(std::string(254, 'A') + "/" + std::string(64, '-')),
              ElementsAre("prefix part must be no more than 253 bytes",
                          "prefix part " + kNoSubdomain,
                          "name part must be no more than 63 bytes", no_name));
}

TEST(NamesTest, LabelValues) {
  for (const std::string& text : {std::string(), std::string("a"),
                                  std::string("A-b_c.1"), std::string(63, 'v')})
    EXPECT_THAT(CheckLabelValue(text), IsEmpty()) << text;
  for (const std::string text : {"-a", "a-", "a b", "a/b", "a\n"}) {
    EXPECT_THAT(CheckLabelValue(text), ElementsAre(kNoValue)) << text;
  }
  EXPECT_THAT(CheckLabelValue(std::string(64, 'v')),
              ElementsAre("must be no more than 63 bytes"));
  EXPECT_THAT(CheckLabelValue(std::string(64, '.')),
              ElementsAre("must be no more than 63 bytes", kNoValue));
}

}  // namespace
}  // namespace minisched
