#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lab/apiserver/http.h"
#include "lab/apiserver/object.h"

namespace minisched::apiserver {

struct ResourceRow;

// An error that the server answers with a metav1.Status. The functions below
// create upstream's errors, with upstream's texts. Follows apimachinery
// pkg/api/errors/errors.go.
class StatusError : public std::runtime_error {
 public:
  // `details` are the details of the Status, or null for none.
  StatusError(int code, std::string reason, const std::string& message,
              Json details = nullptr);

  int code() const { return code_; }
  const std::string& reason() const { return reason_; }
  // Returns the Status.
  Json ToJson() const;
  // Returns the Status as a response, with a Retry-After header if the details
  // have retryAfterSeconds.
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
// 405: the path does not support the method.
StatusError MethodNotAllowed();
// 410: the store no longer has the version that the request names.
StatusError Expired(const std::string& message);
// 404: the server serves nothing at the path.
StatusError PathNotFound();

// A list of invalid fields of an object, like upstream's field.ErrorList. Each
// error has the field's path, "spec.containers[0].name". When the errors exceed
// 64 KiB, the list drops all further errors. Follows apimachinery
// pkg/util/validation/field/errors.go.
class FieldErrors {
 public:
  void Required(std::string field, std::string_view detail = {});
  // The message shows `value` as JSON.
  void Invalid(std::string field, const Json& value, std::string_view detail);
  void NotSupported(std::string field, const Json& value,
                    const std::vector<std::string>& supported);
  void Forbidden(std::string field, std::string_view detail);
  void Duplicate(std::string field, const Json& value);

  bool empty() const { return causes_.empty(); }

  // Throws a StatusError (422) with the errors if there are any: `Pod "web" is
  // invalid: spec.containers: Required value`.
  void ThrowIfAny(const ResourceRow& row, std::string_view name) const;

 private:
  // Adds an error. `reason` is a metav1.CauseType. If the list drops the error,
  // `message` is not called, because a message may contain a long value.
  template <class Message>
  void Add(std::string_view reason, std::string field, const Message& message);

  // The causes in the Status: reason, message, field.
  std::vector<Json> causes_;
  std::size_t bytes_ = 0;  // of the fields and messages in causes_
  bool has_more_ = false;  // errors have been dropped
};

// Returns a row that stands for the options of a request in errors. `kind` is
// the kind of the options, such as "ListOptions".
ResourceRow OptionsRow(const std::string& kind);
// Throws StatusError (422) unless `value` is supported in this field of the
// options. If `value` is a list, each element must be supported.
void CheckOption(const std::string& kind, const std::string& field,
                 const Json& value, const std::vector<std::string>& supported);

}  // namespace minisched::apiserver
