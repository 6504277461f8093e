#include "lab/apiserver/accept.h"

#include <boost/algorithm/string.hpp>
#include <map>
#include <set>
#include <utility>

namespace minisched::apiserver {
namespace {

// The media ranges that include JSON.
const std::set<std::string, std::less<>> kJsonRanges = {"application/json",
                                                        "application/*", "*/*"};

// Returns the parameters of a media range that has been split at each ';'. For
// "application/json;as=Table;v=v1" these are {"as": "Table", "v": "v1"}.
std::map<std::string, std::string> ParametersOf(
    const std::vector<std::string>& parts) {
  std::map<std::string, std::string> parameters;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto pair = Split(parts[i], '=');
    if (pair.size() == 2) parameters[pair[0]] = pair[1];
  }
  return parameters;
}

}  // namespace

bool AcceptedForm::Is(std::string_view other_kind, std::string_view other_group,
                      std::string_view other_version) const {
  return kind == other_kind && group == other_group && version == other_version;
}

std::vector<AcceptedForm> AcceptedForms(const Request& request) {
  std::string accept = request.Header("accept");
  if (accept.empty()) return {{}};
  boost::erase_all(accept, " ");
  std::vector<AcceptedForm> forms;
  for (const std::string& range : Split(accept, ',')) {
    const auto parts = Split(range, ';');
    if (!kJsonRanges.contains(parts[0])) continue;
    auto parameters = ParametersOf(parts);
    forms.push_back({.kind = std::move(parameters["as"]),
                     .group = std::move(parameters["g"]),
                     .version = std::move(parameters["v"])});
  }
  return forms;
}

}  // namespace minisched::apiserver
