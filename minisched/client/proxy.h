#pragma once

#include <string>

namespace minisched {

// Returns true if net/http's ProxyFromEnvironment(), which client-go uses,
// would connect to `server` through a proxy that is set for it. `server` is an
// http:// or https:// URL, and `no_proxy` is the value of $NO_PROXY: hosts that
// need no proxy, separated by commas. "*" stands for all hosts, "10.0.0.1" and
// "10.0.0.0/8" for addresses, "example.com" for a host and its subdomains,
// ".example.com" and "*.example.com" for the subdomains only. A host or an
// address may have a port. Loopback needs no proxy. Thread-safe.
//
// Follows golang.org/x/net/http/httpproxy, without names that are not ASCII.
bool NeedsProxy(const std::string& server, const std::string& no_proxy);

}  // namespace minisched
