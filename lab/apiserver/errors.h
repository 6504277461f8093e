#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lab/apiserver/http/http.h"
#include "lab/apiserver/object.h"

namespace minisched::apiserver {

struct ResourceRow;

// Why a request is refused: thrown by whatever finds out, sent to the client as
// a metav1.Status. The functions below make those of upstream, with its texts.
// Follows apimachinery pkg/api/errors/errors.go.
class StatusError : public std::runtime_error {
 public:
  // `details` are the Status's; null is none.
  StatusError(int code, std::string reason, const std::string& message,
              Json details = nullptr);

  int code() const { return code_; }
  const std::string& reason() const { return reason_; }
  // The Status.
  Json ToJson() const;
  // That as an answer, with Retry-After where the details say so.
  Reply ToReply() const;

 private:
  int code_;
  std::string reason_;
  Json details_;
};

// pods "web" not found
StatusError NotFound(const ResourceRow& row, std::string_view name);
// deployments.apps "web" already exists
StatusError AlreadyExists(const ResourceRow& row, std::string_view name);
// Operation cannot be fulfilled on pods "web": WHY
StatusError Conflict(const ResourceRow& row, std::string_view name,
                     std::string_view why);
// pods "web" is forbidden: WHY
StatusError Forbidden(const ResourceRow& row, std::string_view name,
                      std::string_view why);
StatusError BadRequest(const std::string& message);
// 405: no such method on that path.
StatusError MethodNotAllowed();
// 410: what the client wants to go on from is no longer there.
StatusError Expired(const std::string& message);
// Text for a path that is not of the API: 404 as a Status.
StatusError PathNotFound();

// What is wrong with the fields of an object, as upstream's field.ErrorList.
// Each finding has the field's path, "spec.containers[0].name". Follows
// apimachinery pkg/util/validation/field/errors.go. After 64 KiB of messages,
// further findings are not listed.
class FieldErrors {
 public:
  void Required(std::string field, std::string_view detail = {});
  // `value` is shown: a string in quotes, a struct as JSON.
  void Invalid(std::string field, const Json& value, std::string_view detail);
  void NotSupported(std::string field, const Json& value,
                    const std::vector<std::string>& supported);
  void Forbidden(std::string field, std::string_view detail);
  void Duplicate(std::string field, const Json& value);

  bool empty() const { return causes_.empty(); }

  // Throws a 422 that says it all, if there is anything: `Pod "web" is invalid:
  // spec.containers: Required value`.
  void ThrowIfAny(const ResourceRow& row, std::string_view name) const;

 private:
  // `reason` is a metav1.CauseType. Calls `message` for the message if it is
  // going to be listed: the values that messages show may be long.
  template <class Message>
  void Add(std::string_view reason, std::string field, const Message& message);

  // As they go into the Status: reason, message, field.
  std::vector<Json> causes_;
  std::size_t bytes_ = 0;  // of their messages
  bool has_more_ = false;  // than are listed
};

// What errors in the options of a request are errors in: of `kind` is
// "ListOptions" and the like.
ResourceRow OptionsRow(const std::string& kind);
// Throws a 422 unless the value of that field of such options is supported, or
// each if it is a list.
void CheckOption(const std::string& kind, const std::string& field,
                 const Json& value, const std::vector<std::string>& supported);

}  // namespace minisched::apiserver
