// Fuzzes the documents that inject faults. The input is a document.

#include "lab/apiserver/faults/faults.h"
#include "minisched/api/parse_error.h"
#include "minisched/base/fuzzing.h"

namespace minisched::apiserver {
namespace {

void CheckEffect(Faults& faults, const std::string& method) {
  const Request request{.method = method,
                        .path = "/api/v1/namespaces/default/pods/a",
                        .headers = {{"user-agent", "kubectl/v1.36.0"}}};
  const FaultEffect effect =
      faults.Select(request, *RequestInfo::Parse(request));
  Require(effect.latency.count() >= 0 && effect.watch_delay.count() >= 0,
          "a delay is not negative");
  if (!effect.error) return;
  Require(effect.error->code() >= 400 && effect.error->code() < 600,
          "an injected error has the code of an error");
  Require(Json::parse(Dump(effect.error->ToJson())).is_object(),
          "an injected error is a JSON object");
}

}  // namespace
}  // namespace minisched::apiserver

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  using namespace minisched::apiserver;
  try {
    Faults faults = Faults::Parse(std::string(InputText(data, size)));
    const Json document = faults.ToJson();
    Require(Faults::Parse(Dump(document)).ToJson() == document,
            "the faults can be sent back", Dump(document));
    CheckEffect(faults, "GET");
    CheckEffect(faults, "DELETE");
  } catch (const ParseError&) {
    // Most inputs are malformed.
  }
  return 0;
}
