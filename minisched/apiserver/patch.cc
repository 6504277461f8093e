#include "minisched/apiserver/patch.h"

#include <algorithm>
#include <string>

#include "minisched/apiserver/errors.h"

namespace minisched::apiserver {
namespace {

constexpr char kJsonPatch[] = "application/json-patch+json";
constexpr char kMergePatch[] = "application/merge-patch+json";
constexpr char kStrategicPatch[] = "application/strategic-merge-patch+json";

constexpr std::size_t kMaxOperations = 10'000;
constexpr std::size_t kMaxCopiedBytes = 3 << 20;
constexpr std::size_t kMaxDepth = 200;

std::size_t Depth(const Json& value) {
  if (!value.is_structured()) return 0;
  std::size_t depth = 0;
  for (const Json& element : value) depth = std::max(depth, Depth(element));
  return depth + 1;
}

[[noreturn]] void FailToApply() {
  // Upstream doesn't tell the client what it was.
  throw StatusError(
      422, "Invalid",
      "the server rejected our request due to an error in our request",
      Json::object());
}

// Applies what is left of an operation once "move" and "copy" have become
// "add". May throw what the library throws.
void ApplyPlain(Json& document, const std::string& op, const std::string& text,
                const Json& value) {
  const Json::json_pointer path(text);
  const Json& parent = document.at(path.parent_pointer());
  // The library takes for granted that it is.
  if (!path.empty() && !parent.is_structured()) FailToApply();
  const auto depth =
      static_cast<std::size_t>(std::count(text.begin(), text.end(), '/'));
  if (depth + Depth(value) > kMaxDepth) FailToApply();
  const bool is_new =
      op == "replace" && parent.is_object() && !document.contains(path);
  const Json operation = {
      {"op", is_new ? "add" : op}, {"path", text}, {"value", value}};
  document.patch_inplace(Json::array({operation}));
}

// `copied` is how many bytes have been copied already: a few operations could
// make a document of any size.
void Apply(Json& document, const Json& operation, std::size_t& copied) {
  const std::string op = operation.at("op");
  const std::string path = operation.at("path");
  if (op != "move" && op != "copy") {
    return ApplyPlain(document, op, path, Get(operation, "value"));
  }
  const std::string from = operation.at("from");
  const Json value = document.at(Json::json_pointer(from));
  if (op == "move") ApplyPlain(document, "remove", from, nullptr);
  if (op == "copy") copied += value.dump().size();
  if (copied > kMaxCopiedBytes) FailToApply();
  ApplyPlain(document, "add", path, value);
}

}  // namespace

void CheckPatchType(const std::string& type) {
  if (type == "application/apply-patch+yaml") {
    throw StatusError(415, "UnsupportedMediaType",
                      "server-side apply is not supported by this server: use "
                      "kubectl apply without --server-side");
  }
  if (type != kJsonPatch && type != kMergePatch && type != kStrategicPatch) {
    throw StatusError(415, "UnsupportedMediaType",
                      "415: Unsupported Media Type");
  }
}

Json ApplyPatch(const std::string& type, const Json& object, const Json& patch,
                const SchemaType& schema) {
  if (type == kJsonPatch) return ApplyJsonPatch(object, patch);
  if (type == kMergePatch) return ApplyMergePatch(object, patch);
  return ApplyStrategicMergePatch(object, patch, schema);
}

Json ApplyJsonPatch(const Json& object, const Json& patch) {
  if (!patch.is_array() || patch.size() > kMaxOperations) {
    throw BadRequest(
        "error decoding patch: a JSON patch is a list of at most " +
        std::to_string(kMaxOperations) + " operations");
  }
  Json result = object;
  std::size_t copied = 0;
  try {
    for (const Json& operation : patch) Apply(result, operation, copied);
  } catch (const Json::exception&) {
    FailToApply();
  }
  return result;
}

Json ApplyMergePatch(const Json& object, const Json& patch) {
  if (!patch.is_object()) {
    throw BadRequest("error decoding patch: a merge patch is an object");
  }
  Json result = object;
  result.merge_patch(patch);
  return result;
}

}  // namespace minisched::apiserver
