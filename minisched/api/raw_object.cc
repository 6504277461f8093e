#include "minisched/api/raw_object.h"

#include "minisched/api/codec.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched {
namespace {

std::string ToLine(const nlohmann::json& object) {
  return object.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true);
}

}  // namespace

template <class T>
void Read(const JsonPlace& place, RawObject<T>& out) {
  CheckKind(place, T::kResource.kind);
  const FieldReader reader(place);
  reader("metadata", out.metadata);
  if (place.Find("kind") != nullptr) {
    out.json = ToLine(place.value());
    return;
  }
  // The items of a list have no apiVersion and kind of their own.
  nlohmann::json object = place.value();
  object["apiVersion"] = T::kResource.ApiVersion();
  object["kind"] = T::kResource.kind;
  out.json = ToLine(object);
}

#define MINISCHED_RAW_CODEC(T)                                          \
  template ObjectList<RawObject<T>> FromJson<ObjectList<RawObject<T>>>( \
      std::string_view, bool);                                          \
  template WatchEvent<RawObject<T>> FromJson<WatchEvent<RawObject<T>>>( \
      std::string_view, bool)

MINISCHED_RAW_CODEC(Node);
MINISCHED_RAW_CODEC(Pod);

}  // namespace minisched
