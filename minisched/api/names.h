// The rules for names and labels.
// Follows apimachinery pkg/api/validate/content/dns.go and kube.go.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace minisched {

// Each says what is wrong with the text, in upstream's words: a message for
// each rule that it breaks, none if it is fine. Lengths are counted in bytes.

// Of namespaces and containers: up to 63 of [-a-z0-9], alphanumeric at both
// ends.
std::vector<std::string> CheckDns1123Label(std::string_view text);

// Of most other objects: such labels with dots between them, up to 253 bytes.
std::vector<std::string> CheckDns1123Subdomain(std::string_view text);

// Of labels, annotations, taints and all that has the form [prefix/]name: a DNS
// subdomain and '/', then up to 63 of [-A-Za-z0-9_.], alphanumeric at both
// ends.
std::vector<std::string> CheckLabelKey(std::string_view text);

// Empty, or as the name in a key.
std::vector<std::string> CheckLabelValue(std::string_view text);

}  // namespace minisched
