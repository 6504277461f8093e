#include "minisched/metrics/health_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "minisched/base/log.h"

namespace minisched {
namespace {

using http::Reply;
using http::Request;

// By the number of their Path.
constexpr std::array<std::string_view, 3> kPaths = {"livez", "readyz",
                                                    "healthz"};

Reply HealthReply(std::string text, int status = 200) {
  Reply reply = http::TextReply(std::move(text), status);
  reply.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return reply;
}

Reply RefuseMethod() {
  Reply reply = HealthReply("405 method not allowed\n", 405);
  reply.headers.emplace_back("Allow", "GET, HEAD");
  return reply;
}

}  // namespace

void HealthChecks::Remove::operator()(const Entry* entry) const {
  entry->checks->End(entry);
}

HealthChecks& HealthChecks::Unserved() {
  static HealthChecks checks;
  return checks;
}

HealthChecks::Registration HealthChecks::Add(Path path, const std::string& name,
                                             Check check) {
  const auto text = kPaths.at(static_cast<std::size_t>(path));
  MutexLock lock(mu_);
  entries_.push_back({this, std::string(text), name, std::move(check)});
  return Registration(&entries_.back());
}

void HealthChecks::End(const Entry* entry) {
  MutexLock lock(mu_);
  entries_.remove_if([entry](const Entry& one) { return &one == entry; });
}

std::optional<Reply> HealthChecks::Answer(const Request& request) const {
  for (const std::string_view known : kPaths) {
    const std::string path(known);
    if (!request.path.starts_with("/" + path)) continue;
    const std::string rest = request.path.substr(1 + path.size());
    if (!rest.empty() && !rest.starts_with('/')) continue;
    MutexLock lock(mu_);
    if (entries_.empty() && (!rest.empty() || known == "readyz")) break;
    std::optional<Reply> reply;
    if (rest.empty()) {
      reply = RunAll(path, request);
    } else {
      reply = RunOne(path, rest.substr(1));
    }
    const bool is_read = request.method == "GET" || request.method == "HEAD";
    return is_read || !reply ? std::move(reply) : RefuseMethod();
  }
  return std::nullopt;
}

Reply HealthChecks::RunAll(const std::string& path,
                           const Request& request) const {
  if (entries_.empty()) return HealthReply("ok");
  const auto exclude = request.QueryAll("exclude");
  const std::set<std::string> excluded(exclude.begin(), exclude.end());
  auto unknown = excluded;
  std::string text;
  bool failed = false;
  bool has_check = false;
  const auto report = [&](const std::string& name, const Check* check) {
    if (unknown.erase(name) > 0 || excluded.contains(name)) {
      text += fmt::format("[+]{} excluded: ok\n", name);
      return;
    }
    const auto reason = check == nullptr ? std::nullopt : (*check)();
    if (reason) {
      failed = true;
      spdlog::info("{} check {} failed: {}", path, name, *reason);
    }
    text += reason ? fmt::format("[-]{} failed: reason withheld\n", name)
                   : fmt::format("[+]{} ok\n", name);
  };
  for (const Entry& entry : entries_) {
    if (entry.path != path) continue;
    has_check = true;
    report(entry.name, &entry.check);
  }
  if (!has_check) report("ping", nullptr);
  if (!unknown.empty()) {
    std::vector<std::string> quoted;
    for (const auto& name : unknown) quoted.push_back('"' + name + '"');
    text += fmt::format(
        "warn: some health checks cannot be excluded: no matches for {}\n",
        fmt::join(quoted, ","));
  }
  if (failed) return HealthReply(text + path + " check failed\n", 500);
  if (!request.query.contains("verbose")) return HealthReply("ok");
  return HealthReply(text + path + " check passed\n");
}

std::optional<Reply> HealthChecks::RunOne(const std::string& path,
                                          const std::string& name) const {
  bool has_check = false;
  for (const Entry& entry : entries_) {
    if (entry.path != path) continue;
    has_check = true;
    if (entry.name != name) continue;
    const auto reason = entry.check();
    if (!reason) return HealthReply("ok");
    return HealthReply("internal server error: " + *reason + "\n", 500);
  }
  if (has_check || name != "ping") return std::nullopt;
  return HealthReply("ok");
}

}  // namespace minisched
