#include "minisched/apiserver/pages.h"

#include <fmt/format.h>

#include <tuple>

#include "minisched/apiserver/errors.h"

namespace minisched::apiserver {
namespace {

StatusError TooLargeVersion(std::uint64_t wanted, std::uint64_t current) {
  return {504,
          "Timeout",
          fmt::format("Timeout: Too large resource version: {}, current: {}",
                      wanted, current),
          {{"retryAfterSeconds", 1},
           {"causes",
            {{{"reason", "ResourceVersionTooLarge"},
              {"message", "Too large resource version"}}}}}};
}

}  // namespace

std::string Page::ToToken() const {
  return Dump(Json::array({version, after.first, after.second}));
}

Page Page::Parse(const std::string& token) {
  using Parts = std::tuple<std::uint64_t, std::string, std::string>;
  try {
    const auto [version, ns, name] = Json::parse(token).get<Parts>();
    return {version, {ns, name}};
  } catch (const Json::exception&) {
    throw BadRequest(
        "invalid continue token: continue key is not valid: it is none of "
        "this server's");
  }
}

std::pair<Store::Collection, std::uint64_t> Snapshot(
    const Store& store, const std::string& collection,
    const ListOptions& options) {
  std::uint64_t version = store.version();
  if (!options.continue_token.empty()) {
    version = Page::Parse(options.continue_token).version;
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
  if (!all) {
    throw Expired(
        options.continue_token.empty()
            ? "The resourceVersion for the provided list is too old."
            : "The provided continue parameter is too old to display a "
              "consistent list result.");
  }
  return {*std::move(all), version};
}

}  // namespace minisched::apiserver
