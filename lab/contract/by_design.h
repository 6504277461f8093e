#pragma once

#include <string_view>

namespace minisched {

// An intended difference between the embedded server and kube-apiserver. The
// test accepts the response of either server: see
// ContractTest::DiffersByDesign().
struct Difference {
  std::string_view test;
  std::string_view reason;
};

inline constexpr Difference kByDesign[] = {
    {"ApplyTest.ServerSideApply",
     "schedulers don't need server-side apply, which would need a record of "
     "each field's owner"},
};

}  // namespace minisched
