// The rules for names and labels.
// Follows apimachinery pkg/api/validate/content/dns.go and kube.go.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace minisched {

// Each function returns a message, in upstream's words, for each rule that the
// text breaks; none if the text is valid. Lengths are counted in bytes.

// Checks the name of a namespace or container: up to 63 of [-a-z0-9],
// alphanumeric at both ends.
std::vector<std::string> CheckDns1123Label(std::string_view text);

// Checks the name of most other objects: parts of [-a-z0-9], alphanumeric at
// both ends, with dots between them, up to 253 bytes.
std::vector<std::string> CheckDns1123Subdomain(std::string_view text);

// Checks the key of a label, annotation or taint. It has the form
// [prefix/]name. The prefix is a DNS subdomain; the name is up to 63 of
// [-A-Za-z0-9_.], alphanumeric at both ends.
std::vector<std::string> CheckLabelKey(std::string_view text);

// Checks the value of a label: empty, or like the name in a key.
std::vector<std::string> CheckLabelValue(std::string_view text);

}  // namespace minisched
