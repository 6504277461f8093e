// Labels, and the selectors that choose objects by them.
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

// Keys to values. The transparent order allows find() with a string_view.
using Labels = std::map<std::string, std::string, std::less<>>;

// One condition on the value of one label. Immutable, so safe to use from any
// number of threads.
class Requirement {
 public:
  enum class Operator {
    kEquals,        // key=value
    kDoubleEquals,  // key==value: as kEquals, but prints as it was written
    kNotEquals,     // key!=value
    kIn,            // key in (value,value)
    kNotIn,         // key notin (value,value)
    kExists,        // key
    kDoesNotExist,  // !key
    kGreaterThan,   // key>value
    kLessThan,      // key<value
  };

  // The operator that label and node selectors call `name`: In, NotIn, Exists,
  // DoesNotExist, and in node selectors Gt and Lt. Nothing for any other name.
  static std::optional<Operator> FindOperator(std::string_view name);

  // The values are: at least one for kIn and kNotIn, none for kExists and
  // kDoesNotExist, a whole number for kGreaterThan and kLessThan, one for the
  // others. Throws ParseError if they are not, or if the key or a value isn't
  // valid in a label.
  Requirement(std::string key, Operator op, std::vector<std::string> values);

  // A label that is absent matches kNotEquals, kNotIn and kDoesNotExist only;
  // one that is not a 64-bit integer neither kGreaterThan nor kLessThan.
  bool Matches(const Labels& labels) const;

  // As in the text of a selector, with the values sorted.
  std::string ToString() const;

  const std::string& key() const { return key_; }

 private:
  std::string key_;
  Operator op_;
  std::vector<std::string> values_;  // sorted
  int64_t bound_ = 0;                // of kGreaterThan and kLessThan
};

// The API object, as in `spec.selector` of a Deployment. All parts have to
// match; with none, any object does.
struct LabelSelectorRequirement {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist
  std::vector<std::string> values;

  bool operator==(const LabelSelectorRequirement&) const = default;
};

struct LabelSelector {
  Labels match_labels;
  std::vector<LabelSelectorRequirement> match_expressions;

  bool operator==(const LabelSelector&) const = default;
};

// A selector ready to match: all of its requirements have to hold. Immutable
// but for assignment, so safe to use from any number of threads.
class Selector {
 public:
  // Reads the text form, as in `kubectl get -l` and `?labelSelector=`:
  // "a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1,m<2". Empty text matches
  // everything. Throws ParseError.
  static Selector Parse(std::string_view text);

  // Throws ParseError. A LabelSelector that is absent, which upstream has
  // select nothing, is the caller's to tell from an empty one.
  static Selector FromLabelSelector(const LabelSelector& selector);

  static Selector Everything() { return Selector({}); }
  static Selector Nothing();

  // With no requirements, it matches everything.
  explicit Selector(std::vector<Requirement> requirements);

  bool Matches(const Labels& labels) const;

  // The text form, sorted by key; empty for Everything() and for Nothing(),
  // which has no text form. Parse() reads it back.
  std::string ToString() const;

 private:
  bool nothing_ = false;
  std::vector<Requirement> requirements_;  // sorted by key
};

}  // namespace minisched
