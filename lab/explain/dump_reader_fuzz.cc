// Fuzzes dumps. The input is the text of a dump.

#include <nlohmann/json.hpp>

#include "lab/apiserver/object.h"
#include "lab/explain/dump_reader.h"
#include "lab/explain/errors.h"
#include "lab/explain/kept_fields.h"
#include "minisched/base/fuzzing.h"

namespace minisched::explain {
namespace {

using apiserver::Json;

// Checks that the copy's manifests can be read, and have only kept kinds.
void CheckManifests(const Objects& objects, const NamespacedName& target,
                    const std::string& group) {
  for (const auto& manifest : objects.SelectFor(target, group).manifests) {
    const Json object = Json::parse(manifest.json, nullptr, false);
    Require(IsKeptKind(object), "a kept object has a kept kind", manifest.json);
    Json again = object;
    KeepFields(again);
    Require(again == object, "only kept fields are kept", manifest.json);
  }
}

}  // namespace
}  // namespace minisched::explain

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  using namespace minisched::explain;
  const std::string text(InputText(data, size));
  Objects objects;
  try {
    ReadDumpText(text, "dump", objects);
  } catch (const CannotTell& error) {
    const std::string message = error.what();
    Require(message.starts_with("dump:"), "an error names the dump", message);
  }
  CheckManifests(objects, {"default", "none"}, "");
  for (const auto& [name, facts] : objects.pods()) {
    CheckManifests(objects, name, facts.group);
    break;
  }
  return 0;
}
