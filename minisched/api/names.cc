#include "minisched/api/names.h"

#include <algorithm>
#include <utility>

namespace minisched {
namespace {

using Messages = std::vector<std::string>;

bool IsLowerAlphanumeric(char c) {
  return ('a' <= c && c <= 'z') || ('0' <= c && c <= '9');
}

bool IsAlphanumeric(char c) {
  return IsLowerAlphanumeric(c) || ('A' <= c && c <= 'Z');
}

bool IsDnsLabel(std::string_view text) {
  return !text.empty() && IsLowerAlphanumeric(text.front()) &&
         IsLowerAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLowerAlphanumeric(c) || c == '-'; });
}

bool IsDnsSubdomain(std::string_view text) {
  size_t dot;
  while ((dot = text.find('.')) != text.npos) {
    if (!IsDnsLabel(text.substr(0, dot))) return false;
    text.remove_prefix(dot + 1);
  }
  return IsDnsLabel(text);
}

bool IsLabelName(std::string_view text) {
  return !text.empty() && IsAlphanumeric(text.front()) &&
         IsAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

// A form of names.
struct Form {
  std::size_t limit;  // in bytes
  bool (*fits)(std::string_view text);
  // The message for names that break the rule. It quotes upstream's regular
  // expression. The code doesn't match with that expression, because it would
  // be slow: each parsed selector checks its keys and values here.
  std::string_view message;
};

constexpr Form kDnsLabel = {
    63, IsDnsLabel,
    "a lowercase RFC 1123 label must consist of lower case alphanumeric "
    "characters or '-', and must start and end with an alphanumeric character "
    "(e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"};

constexpr Form kDnsSubdomain = {
    253, IsDnsSubdomain,
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
    "characters, '-' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'example.com', regex used for validation is "
    R"('[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'))"};

constexpr Form kLabelName = {
    63, IsLabelName,
    "must consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
    "'123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"};

constexpr Form kLabelValue = {
    63, [](std::string_view text) { return text.empty() || IsLabelName(text); },
    "a valid label must be an empty string or consist of alphanumeric "
    "characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"};

// Checks text against a form. `unit` is the unit of the limit in upstream's
// message: "characters" or "bytes". `part` begins each message. It names the
// checked part of a label's key, for example "name part ".
Messages Check(const Form& form, std::string_view text, const char* unit,
               const std::string& part = "") {
  Messages messages;
  if (text.size() > form.limit) {
    messages.push_back(part + "must be no more than " +
                       std::to_string(form.limit) + " " + unit);
  }
  if (!form.fits(text)) messages.push_back(part + std::string(form.message));
  return messages;
}

}  // namespace

Messages CheckDns1123Label(std::string_view text) {
  Messages messages = Check(kDnsLabel, text, "characters");
  if (!IsDnsLabel(text) && IsDnsSubdomain(text)) {
    messages.back() = "must not contain dots";
  }
  return messages;
}

Messages CheckDns1123Subdomain(std::string_view text) {
  return Check(kDnsSubdomain, text, "characters");
}

Messages CheckLabelKey(std::string_view text) {
  if (std::count(text.begin(), text.end(), '/') > 1) {
    return {"a valid label key " + std::string(kLabelName.message) +
            " with an optional DNS subdomain prefix and '/' (e.g. "
            "'example.com/MyName')"};
  }
  Messages messages;
  if (const size_t slash = text.find('/'); slash != text.npos) {
    messages =
        Check(kDnsSubdomain, text.substr(0, slash), "bytes", "prefix part ");
    if (slash == 0) messages = {"prefix part must be non-empty"};
    text.remove_prefix(slash + 1);
  }
  if (text.empty()) messages.emplace_back("name part must be non-empty");
  for (std::string& message : Check(kLabelName, text, "bytes", "name part ")) {
    messages.push_back(std::move(message));
  }
  return messages;
}

Messages CheckLabelValue(std::string_view text) {
  return Check(kLabelValue, text, "bytes");
}

}  // namespace minisched
