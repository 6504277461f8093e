// Secrets and Endpoints.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using SecretTest = ContractTest;

TEST_F(SecretTest, StringDataBecomesData) {
  const json stored = R"({"type": "Opaque", "stringData": null,
                          "data": {"a": "eA==", "b": "eQ=="}})"_json;
  EXPECT_THAT(Post("secrets", Named("s", R"({"data": {"a": "eg==", "b": "eQ=="},
                                             "stringData": {"a": "x"}})"_json)),
              Answers(201, stored));
  EXPECT_THAT(Get("secrets/s"), Answers(200, stored));
  EXPECT_THAT(MergePatch("secrets/s", R"({"stringData": {"c": "z"}})"_json),
              Answers(200, R"({"stringData": null,
                               "data": {"a": "eA==", "c": "eg=="}})"_json));
}

TEST_F(SecretTest, DataMustBeBase64) {
  EXPECT_THAT(
      Post("secrets", Named("s", R"({"data": {"a": "eQ\n==\r\n"}})"_json)),
      Answers(201, R"({"data": {"a": "eQ=="}})"_json));
  for (const char* value :
       {"\"password\\u0021\"", "\"secret\"", "\"====\"", "1234"}) {
    const Reply reply =
        Post("secrets", Named("t", {{"data", {{"a", json::parse(value)}}}}));
    EXPECT_THAT(reply, Refuses(400, "BadRequest",
                               testing::StartsWith(
                                   "Secret in version \"v1\" cannot be handled "
                                   "as a Secret: ")))
        << value;
    EXPECT_THAT(reply.text, testing::Not(testing::HasSubstr("1234")));
  }
}

TEST_F(SecretTest, CanBeSelectedByType) {
  Create("secrets", Named("a"));
  Create("secrets", Named("b", R"({"type": "x.y/z"})"_json));
  EXPECT_THAT(Names(Read("secrets?fieldSelector=type=x.y/z")),
              testing::ElementsAre("b"));
}

using EndpointsTest = ContractTest;

TEST_F(EndpointsTest, AreDeprecated) {
  const std::string warning =
      "299 - \"v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 "
      "EndpointSlice\"";
  EXPECT_EQ(Get("endpoints").headers.at("warning"), warning);
  EXPECT_EQ(Post("endpoints", Named("a")).headers.at("warning"), warning);
}

}  // namespace
}  // namespace minisched
