#include "minisched/apiserver/table.h"

#include <gtest/gtest.h>

#include <memory>

namespace minisched::apiserver {
namespace {

const Json kPod = {{"kind", "Pod"},
                   {"apiVersion", "v1"},
                   {"metadata", {{"name", "web"}, {"namespace", "shop"}}},
                   {"status", {{"phase", "Succeeded"}}}};

Json Table(std::string_view include_object, bool headers = true) {
  return MakeTable(GetResource("", "pods"), {std::make_shared<Json>(kPod)},
                   {{"resourceVersion", "7"}}, {include_object, headers},
                   Time());
}

TEST(TableTest, Whole) {
  const Json table = Table("");
  EXPECT_EQ(table["kind"], "Table");
  EXPECT_EQ(table["apiVersion"], "meta.k8s.io/v1");
  EXPECT_EQ(table["metadata"]["resourceVersion"], "7");
  ASSERT_EQ(table["columnDefinitions"].size(), 9U);
  EXPECT_EQ(table["columnDefinitions"][0], Json({{"name", "Name"},
                                                 {"type", "string"},
                                                 {"format", "name"},
                                                 {"description", ""},
                                                 {"priority", 0}}));
  EXPECT_EQ(table["columnDefinitions"][8]["priority"], 1);
  ASSERT_EQ(table["rows"].size(), 1U);
  EXPECT_EQ(table["rows"][0]["cells"].size(), 9U);
  EXPECT_EQ(table["rows"][0]["cells"][0], "web");
}

TEST(TableTest, ObjectsOfRows) {
  EXPECT_EQ(Table("Metadata")["rows"][0]["object"],
            Json({{"kind", "PartialObjectMetadata"},
                  {"apiVersion", "meta.k8s.io/v1"},
                  {"metadata", kPod["metadata"]}}));
  EXPECT_EQ(Table("Object")["rows"][0]["object"], kPod);
  EXPECT_EQ(Table("None")["rows"][0]["object"], nullptr);
}

TEST(TableTest, WithoutHeaders) {
  EXPECT_EQ(Table("None", false)["columnDefinitions"], nullptr);
}

TEST(TableTest, NoObjects) {
  const Json table = MakeTable(GetResource("", "pods"), {}, {}, {}, Time());
  EXPECT_EQ(table["rows"], Json::array());
}

}  // namespace
}  // namespace minisched::apiserver
