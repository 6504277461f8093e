// Fuzzes patches. The first line of the input is a type, "json", "merge" or
// "strategic", a space and a kind of the core group, such as "Pod". The second
// line is an object and the third line is a patch.

#include <map>
#include <optional>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/limits.h"
#include "lab/apiserver/patch.h"
#include "minisched/api/json_mutator.h"
#include "minisched/api/parse_error.h"
#include "minisched/base/fuzzing.h"

namespace minisched::apiserver {
namespace {

// Applies the patch as RFC 6902 prescribes, but treats a missing value as null,
// as the server does. Returns nullopt if the patch fails.
std::optional<Json> ApplyRfc6902(const Json& object, Json patch) {
  try {
    for (Json& operation : patch) {
      if (!operation.contains("value")) operation["value"] = nullptr;
    }
    return object.patch(patch);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void CheckJsonPatch(const Json& object, const Json& patch, const Json& result) {
  const auto expected = ApplyRfc6902(object, patch);
  // The server's "replace" differs from the RFC's.
  const bool replaces = std::any_of(
      patch.begin(), patch.end(),
      [](const Json& operation) { return Get(operation, "op") == "replace"; });
  Require(replaces || expected, "the RFC allows what the server allows",
          Dump(patch));
  Require(!expected || *expected == result, "the server follows the RFC",
          Dump(patch));
}

void CheckPatch(const std::string& type, const Json& object, const Json& patch,
                const SchemaType& schema) {
  const std::string media_type = "application/" + type +
                                 (type == "strategic" ? "-merge" : "") +
                                 "-patch+json";
  const Json result = ApplyPatch(media_type, object, patch, schema);
  if (type == "json") {
    CheckJsonPatch(object, patch, ApplyJsonPatch(object, patch));
  } else {
    Require(result.is_object(), "the result is an object", Dump(patch));
  }
  if (type == "merge") {
    Require(ApplyPatch(media_type, result, patch, schema) == result,
            "a merge patch is idempotent", Dump(patch));
  }
  if (!result.is_object()) return;
  for (const char* key : {"apiVersion", "kind"}) {
    Require(result.contains(key), "the result has a type", Dump(patch));
  }
}

}  // namespace
}  // namespace minisched::apiserver

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  using namespace minisched::apiserver;
  std::string_view text = InputText(data, size);
  const std::vector<std::string> words = SplitWords(TakeLine(text));
  if (words.size() != 2) return -1;  // not for the corpus
  const SchemaType* schema = Schema::Get().Find("v1", words[1]);
  const bool known =
      words[0] == "json" || words[0] == "merge" || words[0] == "strategic";
  Json object = Json::parse(TakeLine(text), nullptr, false);
  const Json patch = Json::parse(TakeLine(text), nullptr, false);
  if (!known || schema == nullptr || !object.is_object() ||
      patch.is_discarded()) {
    return -1;
  }
  object["apiVersion"] = "v1";
  object["kind"] = words[1];
  try {
    // In the server, patches and stored objects have passed these functions.
    CheckLimits(patch);
    CheckLimits(object);
    Normalize(object, *schema);
    CheckPatch(words[0], object, patch, *schema);
  } catch (const ParseError&) {
    return -1;
  } catch (const StatusError& error) {
    const bool upstream = error.code() == 500 && error.reason().empty();
    Require(upstream || (error.code() >= 400 && error.code() < 500),
            "a bad patch is the client's error", error.what());
  }
  return 0;
}
