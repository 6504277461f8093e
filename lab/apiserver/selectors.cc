#include "lab/apiserver/selectors.h"

#include <utility>

#include "minisched/api/labels.h"
#include "minisched/api/parse_error.h"

namespace minisched::apiserver {
namespace {

// Returns no labels if `labels` is not an object.
Labels ToLabels(const Json& labels) {
  return labels.is_object() ? labels.get<Labels>() : Labels();
}

LabelSelector ToSelector(const Json& json) {
  LabelSelector selector{.match_labels = ToLabels(Get(json, "matchLabels"))};
  for (const Json& expression : Get(json, "matchExpressions")) {
    LabelSelectorRequirement requirement{
        .key = GetString(expression, "key"),
        .op = GetString(expression, "operator")};
    for (const Json& value : Get(expression, "values")) {
      requirement.values.push_back(value.get<std::string>());
    }
    selector.match_expressions.push_back(std::move(requirement));
  }
  return selector;
}

}  // namespace

std::function<bool(const Json& labels)> Compile(const Json& json) {
  Selector selector = Selector::Nothing();
  try {
    if (!json.is_null()) {
      selector = Selector::FromLabelSelector(ToSelector(json));
    }
  } catch (const ParseError&) {
    // An invalid selector selects nothing.
  }
  return [selector = std::move(selector)](const Json& labels) {
    return selector.Matches(ToLabels(labels));
  };
}

bool Selects(const Json& selector, const Json& labels) {
  return Compile(selector)(labels);
}

std::string SelectorText(const Json& selector) {
  try {
    return Selector::FromLabelSelector(ToSelector(selector)).ToString();
  } catch (const ParseError&) {
    return "";
  }
}

}  // namespace minisched::apiserver
