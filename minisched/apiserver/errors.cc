#include "minisched/apiserver/errors.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <utility>

#include "minisched/apiserver/resources.h"

namespace minisched::apiserver {
namespace {

// As Go's %q prints it.
std::string Quote(std::string_view text) { return Dump(text); }

Json DetailsOf(const ResourceRow& row, std::string_view name) {
  Json details = Json::object();
  if (!row.plural.empty()) details["kind"] = row.plural;
  if (!row.group.empty()) details["group"] = row.group;
  if (!name.empty()) details["name"] = name;
  return details;
}

}  // namespace

StatusError::StatusError(int code, std::string reason, std::string message,
                         Json details)
    : code_(code),
      reason_(std::move(reason)),
      message_(std::move(message)),
      details_(std::move(details)) {}

Json StatusError::ToJson() const {
  Json status = {{"kind", "Status"},           {"apiVersion", "v1"},
                 {"metadata", Json::object()}, {"status", "Failure"},
                 {"message", message_},        {"code", code_}};
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
          row.QualifiedName() + " " + Quote(name) + " not found",
          DetailsOf(row, name)};
}

StatusError AlreadyExists(const ResourceRow& row, std::string_view name) {
  return {409, "AlreadyExists",
          row.QualifiedName() + " " + Quote(name) + " already exists",
          DetailsOf(row, name)};
}

StatusError Conflict(const ResourceRow& row, std::string_view name,
                     std::string_view why) {
  return {409, "Conflict",
          "Operation cannot be fulfilled on " + row.QualifiedName() + " " +
              Quote(name) + ": " + std::string(why),
          DetailsOf(row, name)};
}

StatusError Forbidden(const ResourceRow& row, std::string_view name,
                      std::string_view why) {
  return {403, "Forbidden",
          row.QualifiedName() + (name.empty() ? "" : " " + Quote(name)) +
              " is forbidden: " + std::string(why),
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

void FieldErrors::Add(std::string_view reason, std::string field,
                      std::string message) {
  causes_.push_back({{"reason", reason},
                     {"field", std::move(field)},
                     {"message", std::move(message)}});
}

void FieldErrors::Required(std::string field, std::string_view detail) {
  Add("FieldValueRequired", std::move(field),
      "Required value" + (detail.empty() ? "" : ": " + std::string(detail)));
}

void FieldErrors::Invalid(std::string field, const Json& value,
                          std::string_view detail) {
  Add("FieldValueInvalid", std::move(field),
      "Invalid value: " + value.dump() + ": " + std::string(detail));
}

void FieldErrors::NotSupported(std::string field, const Json& value,
                               const std::vector<std::string>& supported) {
  std::string message = "Unsupported value: " + value.dump();
  std::string_view separator = ": supported values: ";
  for (const std::string& name : supported) {
    message.append(separator).append(Quote(name));
    separator = ", ";
  }
  Add("FieldValueNotSupported", std::move(field), std::move(message));
}

void FieldErrors::Forbidden(std::string field, std::string_view detail) {
  Add("FieldValueForbidden", std::move(field),
      "Forbidden: " + std::string(detail));
}

void FieldErrors::Duplicate(std::string field, const Json& value) {
  Add("FieldValueDuplicate", std::move(field),
      "Duplicate value: " + value.dump());
}

void FieldErrors::ThrowIfAny(const ResourceRow& row,
                             std::string_view name) const {
  if (causes_.empty()) return;
  std::vector<std::string> messages;
  for (const Json& cause : causes_) {
    std::string message =
        GetString(cause, "field") + ": " + GetString(cause, "message");
    if (std::find(messages.begin(), messages.end(), message) ==
        messages.end()) {
      messages.push_back(std::move(message));
    }
  }
  std::string all = boost::join(messages, ", ");
  if (messages.size() > 1) all = "[" + all + "]";

  const std::string kind =
      row.kind + (row.group.empty() ? "" : "." + row.group);
  Json details = DetailsOf(row, name);
  if (!row.kind.empty()) details["kind"] = row.kind;
  details["causes"] = causes_;
  throw StatusError(422, "Invalid",
                    kind + " " + Quote(name) + " is invalid: " + all,
                    std::move(details));
}

void FieldErrors::ThrowIfAny(const std::string& options_kind) const {
  ThrowIfAny({.group = "meta.k8s.io", .kind = options_kind}, "");
}

}  // namespace minisched::apiserver
