#include "minisched/apiserver/pages.h"

#include <boost/algorithm/string.hpp>
#include <vector>

#include "minisched/apiserver/errors.h"

namespace minisched::apiserver {
namespace {

StatusError TooLargeVersion(std::uint64_t wanted, std::uint64_t current) {
  return {504,
          "Timeout",
          "Timeout: Too large resource version: " + std::to_string(wanted) +
              ", current: " + std::to_string(current),
          {{"retryAfterSeconds", 1},
           {"causes",
            {{{"reason", "ResourceVersionTooLarge"},
              {"message", "Too large resource version"}}}}}};
}

}  // namespace

std::string Page::ToToken() const {
  return std::to_string(version) + ":" + after.first + ":" + after.second;
}

Page Page::Parse(const std::string& token) {
  std::vector<std::string> parts;
  boost::split(parts, token, [](char c) { return c == ':'; });
  const bool numeric =
      !parts[0].empty() &&
      parts[0].find_first_not_of("0123456789") == std::string::npos &&
      parts[0].size() < 19;
  if (parts.size() < 3 || !numeric) {
    throw BadRequest(
        "invalid continue token: continue key is not valid: it is none of "
        "this server's");
  }
  Page page{std::stoull(parts[0]), {parts[1], parts[2]}};
  for (std::size_t i = 3; i < parts.size(); ++i) {
    page.after.second += ":" + parts[i];
  }
  return page;
}

std::pair<Store::Collection, std::uint64_t> Snapshot(
    const Store& store, const std::string& collection,
    const ListOptions& options) {
  std::uint64_t version = store.version();
  if (!options.continue_token.empty()) {
    if (!options.resource_version.empty() && options.resource_version != "0") {
      throw BadRequest(
          "specifying resource version is not allowed when using continue");
    }
    const Page page = Page::Parse(options.continue_token);
    if (page.version > 0) version = page.version;
  } else if (!options.resource_version.empty()) {
    const std::uint64_t wanted = ParseVersion(options.resource_version, 400);
    if (wanted > version) throw TooLargeVersion(wanted, version);
    // With a limit, "not older than" is exact for a version that is given.
    const bool exact = options.resource_version_match == "Exact" ||
                       (options.resource_version_match.empty() &&
                        options.limit > 0 && wanted > 0);
    if (exact) version = wanted;
  }
  auto all = store.AllAt(collection, version);
  if (!all && options.continue_token.empty()) {
    throw Expired("The resourceVersion for the provided list is too old.");
  }
  if (!all) {
    throw Expired(
        "The provided continue parameter is too old to display a consistent "
        "list result. You can start a new list without the continue parameter, "
        "or use the continue token in this response to retrieve the remainder "
        "of the results. Continuing with the provided token results in an "
        "inconsistent list - objects that were created, modified, or deleted "
        "between the time the first chunk was returned and now may show up in "
        "the list.",
        Page{0, Page::Parse(options.continue_token).after}.ToToken());
  }
  return {*std::move(all), version};
}

}  // namespace minisched::apiserver
