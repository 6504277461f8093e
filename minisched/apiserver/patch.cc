#include "minisched/apiserver/patch.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "minisched/apiserver/errors.h"

// JSON patches as evanphx/json-patch applies them, which is laxer than RFC 6902
// and so than nlohmann's patch(): "replace" adds what isn't there, "test" finds
// null there, and an index may count from the end.

namespace minisched::apiserver {
namespace {

using Pointer = Json::json_pointer;

constexpr std::size_t kMaxOperations = 10'000;
constexpr std::size_t kMaxCopiedBytes = 3 << 20;
constexpr std::size_t kMaxDepth = 200;

// Upstream doesn't tell the client what it was.
[[noreturn]] void FailToApply() {
  throw StatusError(
      422, "Invalid",
      "the server rejected our request due to an error in our request",
      Json::object());
}

// For what is no patch at all; `type` is what it should be, in Go.
[[noreturn]] void FailToDecode(const Json& value, const std::string& type) {
  const std::string found = value.is_boolean() ? "bool" : value.type_name();
  throw BadRequest("error decoding patch: json: cannot unmarshal " + found +
                   " into Go " + type);
}

std::size_t Depth(const Json& value) {
  if (!value.is_structured()) return 0;
  std::size_t depth = 0;
  for (const Json& element : value) depth = std::max(depth, Depth(element));
  return depth + 1;
}

// The position that the key means in a list of this size.
std::size_t Index(const std::string& key, std::size_t size) {
  std::int64_t index = 0;
  const char* end = key.data() + key.size();
  const auto [at, error] = std::from_chars(key.data(), end, index);
  if (error != std::errc() || at != end) FailToApply();
  const auto count = static_cast<std::int64_t>(size);
  if (index < 0) index += count;
  if (index < 0 || index >= count) FailToApply();
  return static_cast<std::size_t>(index);
}

// The object or list in which the path ends.
Json& Container(Json& document, const Pointer& path) {
  if (path.empty()) FailToApply();
  Json& container = document.at(path.parent_pointer());
  if (!container.is_structured()) FailToApply();
  return container;
}

// null where an object has no such member.
Json Find(Json& document, const Pointer& path) {
  const Json& container = Container(document, path);
  if (container.is_object()) return container.value(path.back(), Json());
  return container[Index(path.back(), container.size())];
}

void Remove(Json& document, const Pointer& path) {
  Json& container = Container(document, path);
  if (container.is_array()) {
    container.erase(Index(path.back(), container.size()));
  } else if (container.erase(path.back()) == 0) {
    FailToApply();
  }
}

void Add(Json& document, const Pointer& path, Json value) {
  Json& container = Container(document, path);
  const std::string& key = path.back();
  if (container.is_object()) {
    container[key] = std::move(value);
    return;
  }
  const std::size_t index =
      key == "-" ? container.size() : Index(key, container.size() + 1);
  container.insert(container.begin() + static_cast<std::ptrdiff_t>(index),
                   std::move(value));
}

void Replace(Json& document, const Pointer& path, Json value) {
  if (path.empty()) {
    document = std::move(value);
    return;
  }
  Json& container = Container(document, path);
  if (container.is_object()) {
    container[path.back()] = std::move(value);
  } else {
    container[Index(path.back(), container.size())] = std::move(value);
  }
}

// `copied` is how many bytes have been copied already: a few operations could
// make a document of any size.
void Apply(Json& document, const Json& operation, std::size_t* copied) {
  const std::string op = GetString(operation, "op");
  const Pointer path(GetString(operation, "path"));
  const Pointer from(GetString(operation, "from"));
  Json value = Get(operation, "value");
  if (op == "move" || op == "copy") value = Find(document, from);

  const std::string text = path.to_string();
  const auto depth =
      static_cast<std::size_t>(std::count(text.begin(), text.end(), '/'));
  if (depth + Depth(value) > kMaxDepth) FailToApply();

  if (op == "add") {
    Add(document, path, std::move(value));
  } else if (op == "replace") {
    Replace(document, path, std::move(value));
  } else if (op == "remove") {
    Remove(document, path);
  } else if (op == "move") {
    Remove(document, from);
    Add(document, path, std::move(value));
  } else if (op == "copy") {
    *copied += value.dump().size();
    if (*copied > kMaxCopiedBytes) FailToApply();
    Add(document, path, std::move(value));
  } else if (op == "test") {
    if ((path.empty() ? document : Find(document, path)) != value) {
      FailToApply();
    }
  } else {
    FailToApply();
  }
}

}  // namespace

Json ApplyJsonPatch(const Json& object, const Json& patch) {
  if (!patch.is_array()) {
    FailToDecode(patch, "value of type []handlers.jsonPatchOp");
  }
  if (patch.size() > kMaxOperations) {
    throw StatusError(413, "RequestEntityTooLarge",
                      "Request entity too large: The allowed maximum "
                      "operations in a JSON patch is " +
                          std::to_string(kMaxOperations) + ", got " +
                          std::to_string(patch.size()));
  }
  Json result = object;
  std::size_t copied = 0;
  for (const Json& operation : patch) {
    if (!operation.is_object()) {
      FailToDecode(operation, "value of type handlers.jsonPatchOp");
    }
    for (const char* key : {"op", "path", "from"}) {
      const Json& text = Get(operation, key);
      if (text.is_null() || text.is_string()) continue;
      FailToDecode(text, "struct field jsonPatchOp." + std::string(key) +
                             " of type string");
    }
    try {
      Apply(result, operation, &copied);
    } catch (const Json::exception&) {
      FailToApply();
    }
  }
  return result;
}

Json ApplyMergePatch(const Json& object, const Json& patch) {
  if (!patch.is_object()) {
    FailToDecode(patch, "value of type map[string]interface {}");
  }
  Json result = object;
  result.merge_patch(patch);
  return result;
}

}  // namespace minisched::apiserver
