#include "lab/live/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <yaml-cpp/binary.h>
#include <zlib.h>

#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <map>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "lab/live/json.h"
#include "lab/live/page.h"
#include "minisched/api/time.h"

namespace minisched::live {
namespace {

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string Base64(std::string_view data) {
  return YAML::EncodeBase64(Bytes(data), data.size());
}

std::string Gzip(const std::string& text) {
  constexpr int kGzipWindow = 15 + 16;  // the largest window, with gzip's head
  constexpr int kMemory = 9;            // the most
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow,
                   kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("failed to initialize zlib");
  }
  std::string zipped(deflateBound(&stream, text.size()), '\0');
  stream.next_in = const_cast<unsigned char*>(Bytes(text));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<unsigned char*>(zipped.data());
  stream.avail_out = static_cast<uInt>(zipped.size());
  const int result = deflate(&stream, Z_FINISH);
  zipped.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("failed to compress");
  return zipped;
}

// Returns the source of a Content-Security-Policy that allows this text.
std::string HashSource(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha256(),
             nullptr);
  return "'sha256-" +
         Base64({reinterpret_cast<const char*>(hash.data()), size}) + "'";
}

// Numbers uids in the order of their first use.
class ShortUids {
 public:
  std::string Of(const std::string& uid) {
    return std::to_string(numbers_.emplace(uid, numbers_.size()).first->second);
  }

  // Replaces all uids of an item.
  void Replace(Json& item) {
    for (const char* path :
         {"/pod", "/attempt", "/cluster/pod", "/cluster/node"}) {
      const Json::json_pointer pointer(path);
      if (!item.contains(pointer)) continue;
      Json& uid = item[pointer]["uid"];
      uid = Of(uid);
    }
    if (!item.contains("queue")) return;
    for (Json& uid : item["queue"]["active"]) uid = Of(uid);
  }

 private:
  std::map<std::string, std::size_t> numbers_;
};

// Returns the members "attempts" and "lists". Many attempts have the same
// nodes, far apart in the text, where gzip does not find them. So each
// different list is in "lists" once, and attempts have its index.
std::string AttemptsOf(const Recording& recording, ShortUids& uids) {
  std::vector<std::string> attempts;
  std::map<std::string, std::size_t> indexes;
  std::vector<std::string> lists;
  for (const std::string& key : recording.AttemptKeys()) {
    const auto text = recording.FindAttempt(key);
    if (!text) continue;
    Json record = Json::parse(*text);
    uids.Replace(record);
    Json& attempt = record["attempt"];
    for (const char* name : {"fits", "rejected", "scores"}) {
      if (!attempt.contains(name)) continue;
      const std::string list = Dump(attempt[name]);
      const auto [known, is_new] = indexes.emplace(list, lists.size());
      if (is_new) lists.push_back(list);
      attempt[name] = known->second;
    }
    attempts.push_back(
        fmt::format(R"("{}":{})", AttemptKey(record), Dump(record)));
  }
  return fmt::format(R"("attempts":{{{}}},"lists":[{}])",
                     fmt::join(attempts, ","), fmt::join(lists, ","));
}

std::string ContentOf(const Recording& recording,
                      std::optional<std::size_t> moment) {
  ShortUids uids;
  Json start = {{"time", FormatMicroTime(recording.items().back().time)},
                {"program", recording.program()},
                {"scheduler", recording.scheduler()},
                {"source", "a recording"},
                {"recording", true}};
  if (moment) start["moment"] = *moment;
  std::vector<std::string> items;
  for (const Item& item : recording.items()) {
    Json content = Json::parse(item.json);
    uids.Replace(content);
    items.push_back(Dump(content));
  }
  return fmt::format(R"({{"start":{},"items":[{}],{}}})", Dump(start),
                     fmt::join(items, ","), AttemptsOf(recording, uids));
}

}  // namespace

std::string ExportPage(const Recording& recording,
                       std::optional<std::size_t> moment) {
  std::string html(kIndexHtml);
  const std::string policy = fmt::format(
      "default-src 'none'; script-src {}; style-src {}; "
      "require-trusted-types-for 'script'; trusted-types 'none'",
      HashSource(kScript), HashSource(kStyle));
  boost::replace_first(
      html, R"(<meta charset="utf-8">)",
      fmt::format("<meta charset=\"utf-8\">\n<meta http-equiv="
                  "\"Content-Security-Policy\" content=\"{}\">",
                  policy));
  boost::replace_first(html, R"(<link rel="stylesheet" href="live.css">)",
                       fmt::format("<style>{}</style>", kStyle));
  boost::replace_first(
      html, R"(<script type="module" src="live.js"></script>)",
      fmt::format("<script type=\"module\">{}</script>", kScript));
  boost::replace_first(
      html, "</body>",
      "<script type=\"application/octet-stream\" id=\"recording\">" +
          Base64(Gzip(ContentOf(recording, moment))) + "</script>\n</body>");
  return html;
}

}  // namespace minisched::live
