// Fuzzes bodies in Kubernetes' protobuf. The input is a body without its first
// four bytes, "k8s\0".

#include "lab/apiserver/errors.h"
#include "lab/apiserver/limits.h"
#include "lab/apiserver/schema/schema.h"
#include "minisched/api/parse_error.h"
#include "minisched/base/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  using namespace minisched::apiserver;
  std::string body("k8s\0", 4);
  body += InputText(data, size);
  try {
    Json object = DecodeProtobuf(body);
    CheckLimits(object);
    Require(Json::parse(Dump(object)) == object, "an object is valid JSON",
            Dump(object));
    std::string version = GetString(object, "apiVersion");
    const std::string kind = GetString(object, "kind");
    if (kind == "DeleteOptions") version = "v1";
    const SchemaType* type = Schema::Get().Find(version, kind);
    Require(type != nullptr, "an object has a known kind", kind);
    const auto unknown = Normalize(object, *type);
    Require(unknown.empty(), "an object has only known fields", Dump(object));
  } catch (const ParseError&) {
    // The body is malformed.
  } catch (const StatusError& error) {
    Require(error.code() >= 400 && error.code() < 500,
            "a bad body is the client's error", error.what());
  }
  return 0;
}
