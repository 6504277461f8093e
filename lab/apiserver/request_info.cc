#include "lab/apiserver/request_info.h"

#include <boost/algorithm/string.hpp>
#include <vector>

#include "lab/apiserver/list_options.h"

namespace minisched::apiserver {
namespace {

std::string VerbOf(const Request& request, const RequestInfo& info) {
  const std::string& method = request.method;
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") {
    return info.name.empty() ? "deletecollection" : "delete";
  }
  if (method != "GET") return "";
  if (QueryBool(request, "watch")) return "watch";
  return info.name.empty() ? "list" : "get";
}

}  // namespace

std::optional<RequestInfo> RequestInfo::Parse(const Request& request) {
  auto parts =
      Split(boost::trim_copy_if(request.path, boost::is_any_of("/")), '/');
  const bool core = parts[0] == "api";
  if (!core && parts[0] != "apis") return std::nullopt;
  const std::size_t start = core ? 2 : 3;
  if (parts.size() <= start) return std::nullopt;
  const std::string group = core ? "" : parts[1];
  const std::string version = parts[start - 1];
  parts.erase(parts.begin(), parts.begin() + static_cast<long>(start));

  RequestInfo info;
  if (parts.size() > 2 && parts[0] == "namespaces" &&
      FindResource(group, version, parts[2]) != nullptr) {
    info.ns = parts[1];
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  info.row = FindResource(group, version, parts[0]);
  if (info.row == nullptr || parts.size() > 3) return std::nullopt;
  if (!info.ns.empty() && !info.row->namespaced) return std::nullopt;
  if (parts.size() > 1) info.name = parts[1];
  if (parts.size() > 2) info.subresource = parts[2];
  // A resource that can only be created has no paths for single objects.
  const bool only_created =
      info.row->verbs == std::vector<std::string>{"create"};
  if (only_created && !info.name.empty()) return std::nullopt;
  const bool needs_namespace = info.row->namespaced && !info.name.empty();
  if (needs_namespace && info.ns.empty()) return std::nullopt;
  if (!info.subresource.empty() &&
      !info.row->HasSubresource(info.subresource)) {
    return std::nullopt;
  }
  info.verb = VerbOf(request, info);
  return info;
}

}  // namespace minisched::apiserver
