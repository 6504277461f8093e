#include "framework/cycle_state.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace minisched {
namespace {

struct PortsData {
  std::vector<int> ports;
};
struct NamesData {
  std::vector<std::string> names;
};

TEST(CycleStateTest, ReadsTheDataOfEachType) {
  CycleState state;
  state.Write(PortsData{{80}});
  state.Write(NamesData{{"web"}});
  EXPECT_EQ(state.Read<PortsData>().ports, std::vector{80});
  EXPECT_EQ(state.Read<NamesData>().names, std::vector<std::string>{"web"});
}

TEST(CycleStateTest, WriteReplacesEarlierData) {
  CycleState state;
  state.Write(PortsData{{80}});
  state.Write(PortsData{{443}});
  EXPECT_EQ(state.Read<PortsData>().ports, std::vector{443});
}

TEST(CycleStateTest, ReadThrowsWithoutData) {
  CycleState state;
  state.Write(PortsData{{80}});
  EXPECT_THROW(state.Read<NamesData>(), std::out_of_range);
}

TEST(CycleStateTest, ACopyIsIndependent) {
  CycleState state;
  state.Write(PortsData{{80}});
  CycleState copy = state;
  copy.Read<PortsData>().ports[0] = 443;
  copy.Write(NamesData{{"web"}});
  EXPECT_EQ(state.Read<PortsData>().ports, std::vector{80});
  EXPECT_THROW(state.Read<NamesData>(), std::out_of_range);
  EXPECT_EQ(copy.Read<PortsData>().ports, std::vector{443});
}

}  // namespace
}  // namespace minisched
