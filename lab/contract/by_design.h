#pragma once

#include <string_view>

namespace minisched {

// Intended differences between the embedded server and kube-apiserver. A test
// in this list expects either answer: see ContractTest::DiffersByDesign().
struct Difference {
  std::string_view test;
  std::string_view reason;
};

inline constexpr Difference kByDesign[] = {
    {"ApplyTest.ServerSideApply",
     "schedulers don't need it, and it would need a record of each field's "
     "owner"},
};

}  // namespace minisched
