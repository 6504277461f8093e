#include "lab/live/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <zlib.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "lab/live/files_testing.h"
#include "lab/live/page.h"

namespace minisched::live {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

std::string Export(const std::string& text) {
  const TestFile file(text);
  return ExportPage(Recording(file.path()));
}

// Returns the text between two others.
std::string Between(const std::string& text, const std::string& begin,
                    const std::string& end) {
  const auto first = text.find(begin);
  EXPECT_NE(first, text.npos) << begin;
  const auto from = first + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

std::string FromBase64(const std::string& text) {
  std::string data(text.size(), '\0');
  EVP_DecodeBlock(reinterpret_cast<unsigned char*>(data.data()),
                  reinterpret_cast<const unsigned char*>(text.data()),
                  static_cast<int>(text.size()));
  return data;
}

std::string Unzip(std::string data) {
  std::string text(1 << 20, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<unsigned char*>(data.data());
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<unsigned char*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

Json ContentOf(const std::string& html) {
  return Json::parse(Unzip(FromBase64(
      Between(html, R"(type="application/octet-stream" id="recording">)",
              "</script>"))));
}

TEST(ExportTest, HasItemsAndFullAttempts) {
  const std::string attempt =
      AttemptState("a", 1, R"(,"fits":["n"],"rejected":[])");
  const Json content = ContentOf(
      Export(RecordLine(1, 1, R"("scheduler":{"name":"s","program":"p"})") +
             ObjectLine(2, "Add", NodeJson("n")) + RecordLine(3, 2, attempt)));
  EXPECT_EQ(content["start"]["program"], "p");
  EXPECT_EQ(content["start"]["scheduler"], "s");
  EXPECT_EQ(content["start"]["recording"], true);
  EXPECT_FALSE(content["start"].contains("control"));
  ASSERT_EQ(content["items"].size(), 3U);
  EXPECT_EQ(content["items"][1]["cluster"]["node"]["name"], "n");
  EXPECT_EQ(content["attempts"]["1/1"]["attempt"]["fits"], 0);
  EXPECT_EQ(content["lists"], Json::parse(R"([["n"],[]])"));
}

TEST(ExportTest, AttemptsShareEqualLists) {
  const auto line = [](int number) {
    return RecordLine(number, number,
                      AttemptState("a", number, R"(,"fits":["n"])"));
  };
  const Json content = ContentOf(Export(line(1) + line(2)));
  EXPECT_EQ(content["attempts"].size(), 2U);
  EXPECT_EQ(content["attempts"]["0/2"]["attempt"]["fits"], 0);
  EXPECT_EQ(content["lists"].size(), 1U);
}

TEST(ExportTest, NumbersReplaceUids) {
  const std::string html = Export(
      ObjectLine(1, "Add", NodeJson("n")) +
      ObjectLine(2, "Add", PodJson("a", "{}")) +
      RecordLine(3, 1, R"("queue":{"length":2,"active":["uid-b","uid-a"]})") +
      RecordLine(4, 2, PodState("b", "active")) +
      RecordLine(5, 3, AttemptState("b", 1)));
  const Json content = ContentOf(html);
  EXPECT_THAT(content.dump(), Not(HasSubstr("uid-")));
  const Json& items = content["items"];
  EXPECT_EQ(items[0]["cluster"]["node"]["uid"], "0");
  EXPECT_EQ(items[1]["cluster"]["pod"]["uid"], "1");
  EXPECT_EQ(items[2]["queue"]["active"], Json::parse(R"(["2","1"])"));
  EXPECT_EQ(items[3]["pod"]["uid"], "2");
  EXPECT_EQ(items[4]["attempt"]["uid"], "2");
  EXPECT_EQ(content["attempts"]["2/1"]["attempt"]["uid"], "2");
}

TEST(ExportTest, BeginsAtTheMoment) {
  const TestFile file(ObjectLine(1, "Add", NodeJson("a")) +
                      ObjectLine(2, "Add", NodeJson("b")));
  const Recording recording(file.path());
  EXPECT_EQ(ContentOf(ExportPage(recording, 1))["start"]["moment"], 1);
  EXPECT_FALSE(ContentOf(ExportPage(recording))["start"].contains("moment"));
}

TEST(ExportTest, LoadsNothing) {
  const std::string html = Export(ObjectLine(1, "Add", NodeJson("n")));
  const std::string head = html.substr(0, html.find("<style>"));
  EXPECT_THAT(head, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("<link")));
  EXPECT_THAT(html, Not(HasSubstr(" src=\"live")));
  EXPECT_THAT(head, HasSubstr("default-src 'none'; script-src 'sha256-"));
}

TEST(ExportTest, TextOfObjectsIsNotMarkup) {
  const std::string html = Export(ObjectLine(
      1, "Add", NodeJson("n", R"({"taints":[{"key":"</script><b>"}]})")));
  EXPECT_THAT(html, Not(HasSubstr("</script><b>")));
}

// An HTML parser would end the elements there.
TEST(ExportTest, ScriptAndStyleCanStandInAPage) {
  for (const char* end : {"</script", "<!--", "\r"}) {
    EXPECT_EQ(kScript.find(end), std::string_view::npos) << end;
  }
  EXPECT_EQ(kStyle.find("</style"), std::string_view::npos);
}

}  // namespace
}  // namespace minisched::live
