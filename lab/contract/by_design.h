#pragma once

#include <string_view>

namespace minisched {

// What the embedded server answers otherwise than kube-apiserver, and means to.
// A test named here expects both answers: see ContractTest::DiffersByDesign().
struct Difference {
  std::string_view test;
  std::string_view reason;
};

inline constexpr Difference kByDesign[] = {
    {"ApplyTest.ServerSideApply",
     "nobody who schedules needs it, and it would need a record of who owns "
     "each field"},
};

}  // namespace minisched
