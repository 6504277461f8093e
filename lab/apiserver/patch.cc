#include "lab/apiserver/patch.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/limits.h"

namespace minisched::apiserver {
namespace {

constexpr char kJsonPatch[] = "application/json-patch+json";
constexpr char kMergePatch[] = "application/merge-patch+json";
constexpr char kStrategicPatch[] = "application/strategic-merge-patch+json";

constexpr std::size_t kMaxOperations = 10'000;
// The longest path, in bytes. nlohmann::json takes quadratic time to decode the
// escapes in a path.
constexpr std::size_t kMaxPath = 1024;

[[noreturn]] void FailToApply() {
  // Upstream's message doesn't name the cause either.
  throw StatusError(
      422, "Invalid",
      "the server rejected our request due to an error in our request",
      Json::object());
}

// Applies the operations of a JSON patch to a document. Throws Json::exception
// or StatusError if an operation cannot be applied or exceeds a limit. The
// Json::patch() of the library has no limits, and copies the values that it
// moves.
class JsonPatcher {
 public:
  explicit JsonPatcher(Json& document) : document_(document) {}

  void Apply(const Json& operation) {
    const std::string op = operation.at("op");
    const Pointer path = Path(operation, "path");
    if (op == "add") {
      Add(path, Get(operation, "value"));
    } else if (op == "remove") {
      Remove(path);
    } else if (op == "replace") {
      Replace(path, Get(operation, "value"));
    } else if (op == "move") {
      Add(path, Remove(Path(operation, "from")));
    } else if (op == "copy") {
      Add(path, document_.at(Path(operation, "from")));
    } else if (op != "test" || document_.at(path) != Get(operation, "value")) {
      FailToApply();
    }
  }

 private:
  using Pointer = Json::json_pointer;

  static Pointer Path(const Json& operation, const char* member) {
    const auto& text = operation.at(member).get_ref<const std::string&>();
    if (text.size() > kMaxPath) {
      throw BadRequest("error decoding patch: a path has at most " +
                       std::to_string(kMaxPath) + " bytes");
    }
    return Pointer(text);
  }

  // Parses the last token of a path as a list index.
  static std::size_t ParseIndex(const std::string& token) {
    std::size_t index = 0;
    const char* const end = token.data() + token.size();
    const auto result = std::from_chars(token.data(), end, index);
    const bool padded = token.size() > 1 && token.front() == '0';
    if (result.ec != std::errc() || result.ptr != end || padded) FailToApply();
    return index;
  }

  // Returns the iterator for an insertion or removal at `index`. Spends the
  // effort of moving the elements from there on.
  Json::iterator ShiftPoint(Json& list, std::size_t index) {
    effort_.Spend(list.size() - index);
    return list.begin() + static_cast<std::ptrdiff_t>(index);
  }

  // Spends the effort of copying `value` to `path`. Throws if the document
  // would then be nested deeper than kMaxNesting.
  void SpendCopy(const Pointer& path, const Json& value) {
    const Extent extent = Extent::Of(value);
    effort_.Spend(extent);
    const std::string text = path.to_string();
    const auto outer =
        static_cast<std::size_t>(std::count(text.begin(), text.end(), '/'));
    if (outer + extent.nesting > kMaxNesting) FailToApply();
  }

  void Add(const Pointer& path, Json value) {
    SpendCopy(path, value);
    if (path.empty()) {
      document_ = std::move(value);
      return;
    }
    Json& parent = document_.at(path.parent_pointer());
    const std::string& token = path.back();
    if (parent.is_object()) {
      parent[token] = std::move(value);
    } else if (!parent.is_array()) {
      FailToApply();
    } else if (token == "-") {
      parent.push_back(std::move(value));
    } else {
      const std::size_t index = ParseIndex(token);
      if (index > parent.size()) FailToApply();
      parent.insert(ShiftPoint(parent, index), std::move(value));
    }
  }

  // Removes a value and returns it.
  Json Remove(const Pointer& path) {
    Json& parent = document_.at(path.parent_pointer());
    Json removed = std::exchange(document_.at(path), nullptr);
    const std::string& token = path.back();
    if (parent.is_object()) {
      parent.erase(token);
    } else {
      parent.erase(ShiftPoint(parent, ParseIndex(token)));
    }
    return removed;
  }

  // Replaces a value. As in upstream's library, and unlike in the RFC, adds a
  // missing member of an object.
  void Replace(const Pointer& path, Json value) {
    const bool inside = !path.empty();
    if (inside && document_.at(path.parent_pointer()).is_object()) {
      return Add(path, std::move(value));
    }
    SpendCopy(path, value);
    document_.at(path) = std::move(value);
  }

  Json& document_;
  Effort effort_;
};

// Restores apiVersion and kind as kube-apiserver does. A strategic merge patch
// cannot replace them by other strings. After another patch, a missing kind is
// restored. If the apiVersion is missing, the result has only the old
// apiVersion and kind.
void RestoreType(Json& patched, const Json& object, const std::string& type) {
  const bool strategic = type == kStrategicPatch;
  const auto is_blank = [&](const char* key) {
    const Json& value = Get(patched, key);
    return value.is_null() || (value.is_string() && GetString(value).empty());
  };
  if (!strategic && is_blank("apiVersion")) patched = Json::object();
  for (const char* key : {"apiVersion", "kind"}) {
    const bool ignored = strategic && Get(patched, key).is_string();
    if (ignored || is_blank(key)) patched[key] = object.at(key);
  }
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
  Json patched = type == kJsonPatch ? ApplyJsonPatch(object, patch)
                 : type == kMergePatch
                     ? ApplyMergePatch(object, patch)
                     : ApplyStrategicMergePatch(object, patch, schema);
  if (patched.is_object()) RestoreType(patched, object, type);
  return patched;
}

Json ApplyJsonPatch(const Json& object, const Json& patch) {
  if (!patch.is_array()) {
    throw BadRequest("error decoding patch: a JSON patch must be a list");
  }
  if (patch.size() > kMaxOperations) {
    throw StatusError(413, "RequestEntityTooLarge",
                      "Request entity too large: The allowed maximum "
                      "operations in a JSON patch is " +
                          std::to_string(kMaxOperations) + ", got " +
                          std::to_string(patch.size()));
  }
  Json result = object;
  JsonPatcher patcher(result);
  try {
    for (const Json& operation : patch) patcher.Apply(operation);
  } catch (const Json::exception&) {
    FailToApply();
  }
  return result;
}

Json ApplyMergePatch(const Json& object, const Json& patch) {
  if (!patch.is_object()) {
    throw BadRequest("error decoding patch: a merge patch must be an object");
  }
  Json result = object;
  result.merge_patch(patch);
  return result;
}

}  // namespace minisched::apiserver
