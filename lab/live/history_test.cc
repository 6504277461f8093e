#include "lab/live/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace minisched::live {
namespace {

using ::testing::ElementsAre;

constexpr std::size_t kAll = 1 << 20;

Item Make(const std::string& key, const std::string& json,
          Remains remains = Remains::kItem) {
  return {.key = key, .json = json, .remains = remains};
}

// An item of about a hundredth of the limit of SmallHistory().
Item Big(const std::string& key, char digit, Remains remains = Remains::kItem) {
  return Make(key, std::string(800, digit), remains);
}

class SmallHistoryTest : public ::testing::Test {
 protected:
  // Adds items until those before have left the history.
  void PushOut() {
    for (int i = 0; i < 110; ++i) history_.Add({Big("/filler", '9')});
  }
  // Returns the base without the filler: the first digit of each item.
  std::string Base() const {
    std::string digits;
    for (const std::string& array : history_.GetBase().json) {
      for (std::size_t i = 1; i < array.size(); ++i) {
        const bool begins = array[i - 1] == '[' || array[i - 1] == ',';
        if (begins && array[i] != '9' && array[i] != ']') digits += array[i];
      }
    }
    return digits;
  }

  History history_{100'000};
};

TEST(HistoryTest, ReturnsItemsInOrder) {
  History history;
  history.Add({Make("a/pod", "1"), Make("a/pod", "2")});
  history.Add({Make("b/pod", "3")});
  EXPECT_EQ(history.end(), 3U);
  EXPECT_EQ(history.From(0, kAll)->json, "[1,2,3]");
  EXPECT_EQ(history.From(0, kAll)->end, 3U);
  EXPECT_EQ(history.From(2, kAll)->json, "[3]");
  EXPECT_EQ(history.From(3, kAll)->json, "");
  EXPECT_EQ(history.From(3, kAll)->end, 3U);
  EXPECT_EQ(history.From(4, kAll), std::nullopt);
  EXPECT_THAT(history.GetBase().json, ElementsAre("[]"));
  EXPECT_EQ(history.GetBase().end, 0U);
}

TEST(HistoryTest, ReturnsPartsOfLimitedSize) {
  History history;
  std::vector<Item> items;
  for (int i = 0; i < 2'500; ++i) items.push_back(Make("a/pod", "7"));
  history.Add(std::move(items));
  EXPECT_EQ(history.From(0, kAll)->end, 1'000U);
  EXPECT_EQ(history.From(2'000, kAll)->end, 2'500U);
  EXPECT_EQ(history.From(0, 10)->end, 5U);  // "[7,7,7,7,7]"
}

TEST(HistoryTest, ClearKeepsNoPosition) {
  History history;
  history.Add({Make("a/pod", "1")});
  history.Clear();
  EXPECT_EQ(history.From(0, kAll), std::nullopt);
  EXPECT_EQ(history.From(1, kAll), std::nullopt);
  history.Add({Make("a/pod", "2")});
  EXPECT_EQ(history.From(2, kAll)->json, "[2]");
  EXPECT_EQ(history.GetBase().end, 2U);
}

TEST_F(SmallHistoryTest, KeepsTheNewestItemsWithinItsLimit) {
  PushOut();
  PushOut();
  EXPECT_EQ(history_.end(), 220U);
  const std::uint64_t begin = history_.GetBase().end;
  EXPECT_GT(begin, 110U);
  EXPECT_LT(begin, 130U);
  EXPECT_EQ(history_.From(begin - 1, kAll), std::nullopt);
  EXPECT_EQ(history_.From(begin, kAll)->end, 220U);
}

TEST_F(SmallHistoryTest, TheBaseHasTheLastItemForEachKeyInOrder) {
  history_.Add({Big("b/pod", '1'), Big("a/pod", '2'), Big("a/row", '3'),
                Big("b/pod", '4')});
  PushOut();
  EXPECT_EQ(Base(), "234");
}

TEST_F(SmallHistoryTest, ANewerItemReplacesTheOneOfTheBase) {
  history_.Add({Big("a/pod", '1'), Big("b/pod", '2')});
  PushOut();
  history_.Add({Big("a/pod", '3')});
  EXPECT_EQ(Base(), "12");
  PushOut();
  EXPECT_EQ(Base(), "23");
}

TEST_F(SmallHistoryTest, NothingRemainsOfAPodThatIsGone) {
  history_.Add({Big("a/pod", '1'), Big("a/row", '2')});
  PushOut();
  history_.Add({Big("a/pod", '3', Remains::kNothing)});
  PushOut();
  EXPECT_EQ(Base(), "2");
}

TEST_F(SmallHistoryTest, NothingRemainsOfADeletedObject) {
  history_.Add({Big("a/pod", '1'), Big("a/attempt/1", '2'), Big("a/row", '3'),
                Big("aa/row", '4'), Big("b/row", '5')});
  PushOut();
  EXPECT_EQ(Base(), "12345");
  history_.Add({Big("a/row", '6', Remains::kNoOwner)});
  PushOut();
  EXPECT_EQ(Base(), "45");
}

TEST_F(SmallHistoryTest, TheBaseLosesItsOldestAttemptsFirst) {
  history_.Add({Big("a/row", '1')});
  for (int i = 0; i < 70; ++i) {
    history_.Add({Big("a/attempt/" + std::to_string(i), '2')});
  }
  PushOut();
  const std::string base = Base();
  EXPECT_EQ(base[0], '1');
  EXPECT_LT(base.size(), 60U);
  EXPECT_GT(base.size(), 10U);
  EXPECT_THAT(history_.From(history_.end() - 40, kAll)->json.size(),
              ::testing::Gt(30'000U));
}

TEST_F(SmallHistoryTest, TheBaseIsLimitedWithoutAttemptsToo) {
  for (int i = 0; i < 1'000; ++i) {
    history_.Add({Big(std::to_string(i) + "/row", '1')});
  }
  EXPECT_LT(Base().size(), 60U);
  EXPECT_NE(history_.From(history_.end() - 40, kAll), std::nullopt);
}

TEST(HistoryTest, TheBaseIsSplitIntoArrays) {
  History history(1'000'000);
  for (int i = 0; i < 2'500; ++i) {
    history.Add({Make(std::to_string(i) + "/row", "1")});
  }
  for (int i = 0; i < 10'000; ++i) history.Add({Make("/filler", "9")});
  const History::Base base = history.GetBase();
  ASSERT_EQ(base.json.size(), 3U);
  EXPECT_EQ(base.json[0].size(), 2'001U);
}

}  // namespace
}  // namespace minisched::live
