// Labels, and selectors, which select objects by their labels.
// Follows apimachinery pkg/labels/selector.go and LabelSelectorAsSelector() of
// pkg/apis/meta/v1/helpers.go.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace minisched {

// A map of keys to values. std::less<> allows find() with a string_view.
using Labels = std::map<std::string, std::string, std::less<>>;

// One condition on the value of one label. Immutable, so thread-safe.
class Requirement {
 public:
  enum class Operator {
    kEquals,        // key=value
    kDoubleEquals,  // key==value: like kEquals, but printed with "=="
    kNotEquals,     // key!=value
    kIn,            // key in (value,value)
    kNotIn,         // key notin (value,value)
    kExists,        // key
    kDoesNotExist,  // !key
    kGreaterThan,   // key>value
    kLessThan,      // key<value
  };

  // Returns the operator that label and node selectors call `name`: In, NotIn,
  // Exists, DoesNotExist and, in node selectors, Gt and Lt. Returns nullopt for
  // any other name.
  static std::optional<Operator> FindOperator(std::string_view name);

  // kIn and kNotIn need at least one value, kExists and kDoesNotExist none, and
  // the others exactly one. The value of kGreaterThan and kLessThan must be an
  // integer. Throws ParseError otherwise, and for an invalid key or value.
  Requirement(std::string key, Operator op, std::vector<std::string> values);

  // Returns true if the labels satisfy the condition. An absent label satisfies
  // only kNotEquals, kNotIn and kDoesNotExist. A value that isn't a 64-bit
  // integer satisfies neither kGreaterThan nor kLessThan.
  bool Matches(const Labels& labels) const;

  // Returns the requirement as in a selector's text form, with sorted values.
  std::string ToString() const;

  const std::string& key() const { return key_; }

 private:
  std::string key_;
  Operator op_;
  std::vector<std::string> values_;  // sorted
  int64_t bound_ = 0;                // of kGreaterThan and kLessThan
};

// One of a LabelSelector's match_expressions.
struct LabelSelectorRequirement {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist
  std::vector<std::string> values;

  bool operator==(const LabelSelectorRequirement&) const = default;
};

// The API type, as in `spec.selector` of a Deployment. Selects objects that
// match all parts. Without parts, selects all objects.
struct LabelSelector {
  Labels match_labels;
  std::vector<LabelSelectorRequirement> match_expressions;

  bool operator==(const LabelSelector&) const = default;
};

// A parsed selector: labels must satisfy all of its requirements. Immutable
// except for assignment; const access is thread-safe.
class Selector {
 public:
  // Parses the text form, as in `kubectl get -l` and `?labelSelector=`:
  // "a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1,m<2". Empty text selects
  // everything. Throws ParseError.
  static Selector Parse(std::string_view text);

  // Converts a LabelSelector. Throws ParseError. Upstream, an absent
  // LabelSelector selects nothing; callers must handle that case.
  static Selector FromLabelSelector(const LabelSelector& selector);

  static Selector Everything() { return Selector({}); }
  static Selector Nothing();

  // Without requirements, selects everything.
  explicit Selector(std::vector<Requirement> requirements);

  bool Matches(const Labels& labels) const;

  // Returns true if the selector has no requirements and selects everything.
  bool Empty() const { return !nothing_ && requirements_.empty(); }

  // Returns the text form, sorted by key, which Parse() accepts. Empty for
  // Everything(), and for Nothing(), which has no text form.
  std::string ToString() const;

 private:
  bool nothing_ = false;
  std::vector<Requirement> requirements_;  // sorted by key
};

}  // namespace minisched
