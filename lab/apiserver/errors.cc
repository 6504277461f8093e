#include "lab/apiserver/errors.h"

#include <fmt/format.h>

#include <boost/algorithm/cxx11/none_of.hpp>
#include <boost/algorithm/string/join.hpp>
#include <boost/range/adaptor/transformed.hpp>
#include <set>
#include <utility>

#include "lab/apiserver/resources.h"

namespace minisched::apiserver {
namespace {

using boost::adaptors::transformed;

constexpr std::size_t kMaxErrorBytes = 64 << 10;

// Quotes text as JSON, which for printable text is the same as Go's %q.
std::string Quote(std::string_view text) { return Dump(text); }

Json DetailsOf(const ResourceRow& row, std::string_view name) {
  Json details = Json::object();
  if (!row.plural.empty()) details["kind"] = row.plural;
  if (!row.group.empty()) details["group"] = row.group;
  if (!name.empty()) details["name"] = name;
  return details;
}

}  // namespace

StatusError::StatusError(int code, std::string reason,
                         const std::string& message, Json details)
    : std::runtime_error(message),
      code_(code),
      reason_(std::move(reason)),
      details_(std::move(details)) {}

Json StatusError::ToJson() const {
  Json status = {{"kind", "Status"},           {"apiVersion", "v1"},
                 {"metadata", Json::object()}, {"status", "Failure"},
                 {"message", what()},          {"code", code_}};
  if (!reason_.empty()) status["reason"] = reason_;
  if (!details_.is_null()) status["details"] = details_;
  return status;
}

Reply StatusError::ToReply() const {
  Reply reply = JsonReply(ToJson(), code_);
  if (const auto retry = GetInt(details_, "retryAfterSeconds")) {
    reply.headers.emplace_back("Retry-After", std::to_string(retry));
  }
  return reply;
}

StatusError NotFound(const ResourceRow& row, std::string_view name) {
  return {404, "NotFound",
          fmt::format("{} {} not found", row.QualifiedName(), Quote(name)),
          DetailsOf(row, name)};
}

StatusError AlreadyExists(const ResourceRow& row, std::string_view name) {
  return {409, "AlreadyExists",
          fmt::format("{} {} already exists", row.QualifiedName(), Quote(name)),
          DetailsOf(row, name)};
}

StatusError Conflict(const ResourceRow& row, std::string_view name,
                     std::string_view why) {
  return {409, "Conflict",
          fmt::format("Operation cannot be fulfilled on {} {}: {}",
                      row.QualifiedName(), Quote(name), why),
          DetailsOf(row, name)};
}

StatusError Forbidden(const ResourceRow& row, std::string_view name,
                      std::string_view why) {
  const std::string quoted = name.empty() ? "" : " " + Quote(name);
  return {
      403, "Forbidden",
      fmt::format("{}{} is forbidden: {}", row.QualifiedName(), quoted, why),
      DetailsOf(row, name)};
}

StatusError BadRequest(const std::string& message) {
  return {400, "BadRequest", message};
}

StatusError MethodNotAllowed() {
  return {405, "MethodNotAllowed",
          "the server does not allow this method on the requested resource",
          Json::object()};
}

StatusError Expired(const std::string& message) {
  return {410, "Expired", message};
}

StatusError PathNotFound() {
  return {404, "NotFound", "the server could not find the requested resource",
          Json::object()};
}

template <class Message>
void FieldErrors::Add(std::string_view reason, std::string field,
                      const Message& message) {
  has_more_ = bytes_ > kMaxErrorBytes;
  if (has_more_) return;
  std::string text = message();
  bytes_ += field.size() + text.size();
  causes_.push_back({{"reason", reason},
                     {"field", std::move(field)},
                     {"message", std::move(text)}});
}

void FieldErrors::Required(std::string field, std::string_view detail) {
  Add("FieldValueRequired", std::move(field), [&] {
    return fmt::format("Required value{}{}", detail.empty() ? "" : ": ",
                       detail);
  });
}

void FieldErrors::Invalid(std::string field, const Json& value,
                          std::string_view detail) {
  Add("FieldValueInvalid", std::move(field), [&] {
    return fmt::format("Invalid value: {}: {}", Dump(value), detail);
  });
}

void FieldErrors::NotSupported(std::string field, const Json& value,
                               const std::vector<std::string>& supported) {
  Add("FieldValueNotSupported", std::move(field), [&] {
    return fmt::format("Unsupported value: {}: supported values: {}",
                       Dump(value),
                       boost::join(supported | transformed(Quote), ", "));
  });
}

void FieldErrors::Forbidden(std::string field, std::string_view detail) {
  Add("FieldValueForbidden", std::move(field),
      [&] { return fmt::format("Forbidden: {}", detail); });
}

void FieldErrors::Duplicate(std::string field, const Json& value) {
  Add("FieldValueDuplicate", std::move(field),
      [&] { return "Duplicate value: " + Dump(value); });
}

void FieldErrors::ThrowIfAny(const ResourceRow& row,
                             std::string_view name) const {
  if (causes_.empty()) return;
  std::vector<std::string> messages;
  std::set<std::string> distinct;
  for (const Json& cause : causes_) {
    const std::string message =
        GetString(cause, "field") + ": " + GetString(cause, "message");
    if (distinct.insert(message).second) messages.push_back(message);
  }
  if (has_more_) messages.emplace_back("and more");
  std::string all = boost::join(messages, ", ");
  if (messages.size() > 1) all = "[" + all + "]";
  Json details = DetailsOf(row, name);
  if (!row.kind.empty()) details["kind"] = row.kind;
  details["causes"] = causes_;
  throw StatusError(
      422, "Invalid",
      fmt::format("{}{}{} {} is invalid: {}", row.kind,
                  row.group.empty() ? "" : ".", row.group, Quote(name), all),
      std::move(details));
}

void CheckOption(const std::string& kind, const std::string& field,
                 const Json& value, const std::vector<std::string>& supported) {
  const Json given = value.is_array() ? value : Json::array({value});
  FieldErrors errors;
  for (const Json& each : given) {
    const auto equals = [&](const std::string& one) { return each == one; };
    if (boost::algorithm::none_of(supported, equals)) {
      errors.NotSupported(field, value, supported);
    }
  }
  errors.ThrowIfAny(OptionsRow(kind), "");
}

ResourceRow OptionsRow(const std::string& kind) {
  return {.group = "meta.k8s.io", .kind = kind};
}

}  // namespace minisched::apiserver
