#include "minisched/config/merge.h"

#include <gmock/gmock.h>

namespace minisched {
namespace {

using enum ExtensionPoint;
using Reason = PluginSetError::Reason;
using testing::ElementsAre;
using testing::IsEmpty;

const PluginEntry kAll = {"*"};

// The cases of TestMergePlugins have the names of upstream.

TEST(MergePluginSetTest, AppendCustomPlugin) {
  EXPECT_EQ(
      MergePluginSet({.enabled = {{"D1"}, {"D2"}}}, {.enabled = {{"Custom"}}}),
      (PluginSet{.enabled = {{"D1"}, {"D2"}, {"Custom"}}}));
}

TEST(MergePluginSetTest, InsertAfterDefaultPlugins2) {
  EXPECT_EQ(
      MergePluginSet({.enabled = {{"D1"}, {"D2"}}},
                     {.enabled = {{"Custom"}, {"D2"}}, .disabled = {{"D2"}}}),
      (PluginSet{.enabled = {{"D1"}, {"Custom"}, {"D2"}},
                 .disabled = {{"D2"}}}));
}

TEST(MergePluginSetTest, ReorderDefaultPlugins) {
  EXPECT_EQ(MergePluginSet({.enabled = {{"D1"}, {"D2"}}},
                           {.enabled = {{"D2"}, {"D1"}}, .disabled = {kAll}}),
            (PluginSet{.enabled = {{"D2"}, {"D1"}}, .disabled = {kAll}}));
}

TEST(MergePluginSetTest, OrderPreserveAfterOverride) {
  EXPECT_EQ(MergePluginSet({.enabled = {{"1"}, {"2"}, {"3"}}},
                           {.enabled = {{"2", 2}, {"1", 1}}}),
            (PluginSet{.enabled = {{"1", 1}, {"2", 2}, {"3"}}}));
}

TEST(MergePluginSetTest, RepeatedCustomPlugin) {
  EXPECT_EQ(MergePluginSet({.enabled = {{"1"}, {"2"}, {"3"}}},
                           {.enabled = {{"1"}, {"2", 2}, {"3"}, {"2", 4}}}),
            (PluginSet{.enabled = {{"1"}, {"2", 4}, {"3"}, {"2", 2}}}));
}

TEST(MergePluginSetTest, DisabledPluginsHaveNoWeights) {
  EXPECT_EQ(MergePluginSet({.disabled = {{"D"}}}, {.disabled = {{"C", 3}}}),
            (PluginSet{.disabled = {{"C"}, {"D"}}}));
}

// Plugins that implement what their names say.
const PluginCatalog kCatalog = {{"Sort", {kQueueSort}},
                                {"Bind", {kBind}},
                                {"Filter", {kFilter}},
                                {"Score", {kScore}},
                                {"PreScore+Score", {kPreScore, kScore}},
                                {"Filter+Score", {kFilter, kScore}}};

class ExpandPluginsTest : public testing::Test {
 protected:
  // Has the plugins without which no configuration is valid.
  ExpandPluginsTest() {
    sets_[kQueueSort].enabled = {{"Sort"}};
    sets_[kBind].enabled = {{"Bind"}};
  }

  ExpandedPlugins Expand() {
    std::vector<PluginSetError> errors;
    ExpandedPlugins expanded = ExpandPlugins(sets_, kCatalog, errors);
    EXPECT_THAT(errors, IsEmpty());
    return expanded;
  }

  std::vector<PluginSetError> Errors() {
    std::vector<PluginSetError> errors;
    ExpandPlugins(sets_, kCatalog, errors);
    return errors;
  }

  PluginSets sets_;
};

TEST_F(ExpandPluginsTest, APluginOfMultiPointRunsWhereItCan) {
  sets_.multi_point.enabled = {{"PreScore+Score", 5}, {"Filter"}};
  const ExpandedPlugins plugins = Expand();
  EXPECT_THAT(plugins[kScore], ElementsAre(PluginEntry{"PreScore+Score", 5}));
  EXPECT_EQ(plugins[kPreScore].size(), 1);
  EXPECT_THAT(plugins[kFilter], ElementsAre(PluginEntry{"Filter"}));
}

TEST_F(ExpandPluginsTest, APointDisablesPluginsOfMultiPoint) {
  sets_.multi_point.enabled = {{"Score"}, {"PreScore+Score"}};
  sets_[kScore].disabled = {{"Score"}};
  EXPECT_THAT(Expand()[kScore], ElementsAre(PluginEntry{"PreScore+Score", 1}));
  sets_[kScore].disabled = {kAll};
  EXPECT_THAT(Expand()[kScore], IsEmpty());
  EXPECT_EQ(Expand()[kPreScore].size(), 1);
}

TEST_F(ExpandPluginsTest, ThePluginsOfBothComeFirstInTheOrderOfThePoint) {
  sets_.multi_point.enabled = {{"Filter+Score"}, {"Score"}};
  sets_[kScore].enabled = {{"PreScore+Score", 7}, {"Score", 2}};
  EXPECT_THAT(Expand()[kScore], ElementsAre(PluginEntry{"Score", 2},
                                            PluginEntry{"Filter+Score", 1},
                                            PluginEntry{"PreScore+Score", 7}));
}

TEST_F(ExpandPluginsTest, TheWeightOfThePointWins) {
  sets_.multi_point.enabled = {{"Score", 4}};
  sets_[kScore].enabled = {{"Score"}};
  EXPECT_THAT(Expand()[kScore], ElementsAre(PluginEntry{"Score", 1}));
}

TEST_F(ExpandPluginsTest, PluginsMustBeKnownAndImplementThePoint) {
  sets_.multi_point.enabled = {{"Filer"}};
  sets_[kScore].enabled = {{"Filter"}, {"Socre"}};
  EXPECT_THAT(
      Errors(),
      ElementsAre(PluginSetError{Reason::kUnknown, std::nullopt, "Filer"},
                  PluginSetError{Reason::kNotImplemented, kScore, "Filter"},
                  PluginSetError{Reason::kUnknown, kScore, "Socre"}));
}

TEST_F(ExpandPluginsTest, APluginIsEnabledOnce) {
  sets_.multi_point.enabled = {{"Filter+Score"}, {"Filter+Score"}};
  EXPECT_THAT(Errors(), ElementsAre(PluginSetError{
                            Reason::kRepeated, std::nullopt, "Filter+Score"}));
  // Upstream, only a point that uses the plugin of multiPoint is an error.
  sets_[kFilter].enabled = {{"Filter+Score"}};
  sets_[kScore].disabled = {{"Filter+Score"}};
  EXPECT_THAT(Errors(), IsEmpty());
  sets_[kFilter].enabled = {{"Filter"}, {"Filter"}};
  EXPECT_THAT(Errors(),
              ElementsAre(PluginSetError{Reason::kRepeated, kFilter, "Filter"},
                          PluginSetError{Reason::kRepeated, std::nullopt,
                                         "Filter+Score"}));
}

TEST_F(ExpandPluginsTest, NeedsOneQueueSortAndABind) {
  sets_[kQueueSort].enabled = {};
  sets_[kBind].enabled = {};
  EXPECT_THAT(Errors(),
              ElementsAre(PluginSetError{Reason::kQueueSort, kQueueSort, ""},
                          PluginSetError{Reason::kNoBind, kBind, ""}));
}

TEST_F(ExpandPluginsTest, TheSumOfTheWeightsIsNeverNegative) {
  sets_.multi_point.enabled = {
      {"Score", 3}, {"Filter+Score", -3}, {"PreScore+Score"}};
  EXPECT_THAT(Errors(), IsEmpty());
  sets_.multi_point.enabled[1].weight = -4;
  EXPECT_THAT(Errors(),
              ElementsAre(PluginSetError{Reason::kNegativeWeight, std::nullopt,
                                         "PreScore+Score"}));
}

}  // namespace
}  // namespace minisched
