// Fuzzes the path and the query of a request, and the label and field selectors
// in the query. The input is the target of a GET:
// "/api/v1/pods?labelSelector=a%3Db".

#include "lab/apiserver/errors.h"
#include "lab/apiserver/list_options.h"
#include "lab/apiserver/request_info.h"
#include "minisched/base/fuzzing.h"

namespace minisched::apiserver {
namespace {

const Json& Sample() {
  static const auto& sample = *new Json(
      {{"metadata",
        {{"name", "a"}, {"namespace", "b"}, {"labels", {{"a", "b"}}}}},
       {"spec", {{"nodeName", "n"}, {"unschedulable", true}}},
       {"reason", "Scheduled"}});
  return sample;
}

void CheckOptions(const ListOptions& options) {
  const std::string labels = options.labels.ToString();
  const bool same = Selector::Parse(labels).ToString() == labels;
  Require(same, "a label selector has a canonical text form", labels);
  ListOptions one = options;
  bool all = options.ns.empty() || options.ns == "b";
  one.ns.clear();
  one.fields.clear();
  all &= one.Matches(Sample());
  one.labels = Selector::Everything();
  for (FieldTerm term : options.fields) {
    one.fields = {term};
    const bool holds = one.Matches(Sample());
    all &= holds;
    term.equal = !term.equal;
    one.fields = {term};
    Require(one.Matches(Sample()) != holds, "\"!=\" negates \"=\"", term.field);
  }
  Require(options.Matches(Sample()) == all,
          "all terms of a selector must hold");
}

}  // namespace
}  // namespace minisched::apiserver

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  using namespace minisched::apiserver;
  Request request{.method = "GET"};
  if (!ParseTarget(InputText(data, size), request)) return 0;
  const auto info = RequestInfo::Parse(request);
  if (!info) return 0;
  try {
    CheckOptions(ListOptions::Parse(request, *info->row, info->ns, info->name));
  } catch (const StatusError& error) {
    Require(error.code() == 400 || error.code() == 422,
            "bad options are the client's error", error.what());
  }
  return 0;
}
