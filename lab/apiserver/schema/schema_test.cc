#include "lab/apiserver/schema/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/apiserver/resources.h"

namespace minisched::apiserver {
namespace {

using Kind = SchemaField::Kind;

const SchemaField& Field(std::string_view kind, std::string_view name) {
  const SchemaField* field = Schema::Get().Find("v1", kind)->Find(name);
  return *field;
}

const SchemaType& PodSpec() { return *Field("Pod", "spec").type; }

TEST(SchemaTest, HasEveryServedKind) {
  for (const ResourceRow& row : AllResources()) {
    EXPECT_TRUE(Schema::Get().Find(row.ApiVersion(), row.kind)) << row.kind;
  }
  EXPECT_TRUE(Schema::Get().Find("v1", "Binding"));
  EXPECT_TRUE(Schema::Get().Find("v1", "DeleteOptions"));
  EXPECT_TRUE(Schema::Get().Find("policy/v1", "Eviction"));
  EXPECT_TRUE(Schema::Get().Find("autoscaling/v1", "Scale"));
  EXPECT_FALSE(Schema::Get().Find("v1", "Deployment"));
}

TEST(SchemaTest, FieldsHaveTheirKindAndFlags) {
  const SchemaField& containers = *PodSpec().Find("containers");
  EXPECT_EQ(containers.kind, Kind::kStruct);
  EXPECT_TRUE(containers.type->Find("image"));
  EXPECT_TRUE(containers.list);
  EXPECT_TRUE(containers.always);
  EXPECT_TRUE(containers.merge);
  EXPECT_EQ(containers.merge_key, "name");
  EXPECT_EQ(containers.number, 2);
  EXPECT_EQ(PodSpec().FindNumber(2), &containers);

  const SchemaField& overhead = *PodSpec().Find("overhead");
  EXPECT_EQ(overhead.kind, Kind::kQuantity);
  EXPECT_TRUE(overhead.map);

  EXPECT_TRUE(PodSpec().Find("priority")->optional);
  EXPECT_EQ(PodSpec().Find("nosuch"), nullptr);
  EXPECT_EQ(PodSpec().FindNumber(0), nullptr);
}

TEST(SchemaTest, FindsInlinedFieldsByNameAndTheirStructByNumber) {
  const SchemaType& volume = *PodSpec().Find("volumes")->type;
  EXPECT_NE(volume.Find("emptyDir"), nullptr);
  EXPECT_EQ(volume.Find("VolumeSource"), nullptr);
  ASSERT_TRUE(volume.FindNumber(2));
  EXPECT_EQ(volume.FindNumber(2)->type->FindNumber(2)->name, "emptyDir");
}

}  // namespace
}  // namespace minisched::apiserver
