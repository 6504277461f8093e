// Fuzzes the normalization of objects. The first line of the input is an
// apiVersion, a space and a kind: "v1 Pod". The second line is the object.

#include "lab/apiserver/errors.h"
#include "lab/apiserver/limits.h"
#include "lab/apiserver/schema/schema.h"
#include "minisched/api/event.h"
#include "minisched/api/json.h"
#include "minisched/api/json_mutator.h"
#include "minisched/api/node.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/pod.h"
#include "minisched/base/fuzzing.h"

namespace minisched::apiserver {
namespace {

// Checks that the schedulers can read the object.
template <class T>
void CheckReadable(const Json& object) {
  try {
    FromJson<T>(Dump(object));
  } catch (const ParseError& error) {
    Require(false, "the client can read a stored object", error.what());
  }
}

void CheckObject(Json object, const std::string& version,
                 const std::string& kind, const SchemaType& type) {
  object["apiVersion"] = version;
  object["kind"] = kind;
  Normalize(object, type);
  Json again = object;
  try {
    Require(Normalize(again, type).empty(), "all fields are known",
            Dump(object));
    Require(again == object, "normalizing again changes nothing",
            Dump(object) + " becomes " + Dump(again));
  } catch (const ParseError& error) {
    Require(false, "a normalized object is valid", error.what());
  }
  if (version == "v1" && kind == "Pod") CheckReadable<Pod>(object);
  if (version == "v1" && kind == "Node") CheckReadable<Node>(object);
  if (version == "v1" && kind == "Binding") CheckReadable<Binding>(object);
  if (version == "events.k8s.io/v1") CheckReadable<minisched::Event>(object);
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
  const SchemaType* type = Schema::Get().Find(words[0], words[1]);
  Json object = Json::parse(TakeLine(text), nullptr, false);
  if (type == nullptr || !object.is_object()) return -1;
  try {
    CheckLimits(object);
    CheckObject(std::move(object), words[0], words[1], *type);
  } catch (const ParseError&) {
    // A field has the wrong type.
  } catch (const StatusError&) {
    // The object is too large.
  }
  return 0;
}
