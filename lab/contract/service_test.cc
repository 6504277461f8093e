// Services.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using ServiceTest = ContractTest;

json Service(const std::string& name, const json& spec = json::object()) {
  json service = Named(name, R"({"spec": {"ports": [{"port": 80}]}})"_json);
  service["spec"].merge_patch(spec);
  return service;
}

TEST_F(ServiceTest, EachHasItsAddress) {
  const json one = Create("services", Service("one"));
  const json two = Create("services", Service("two"));
  const json& address = one.at("spec").at("clusterIP");
  EXPECT_NE(address, two.at("spec").at("clusterIP"));
  const json spec = {{"type", "ClusterIP"},
                     {"clusterIPs", json::array({address})},
                     {"ports", {{{"protocol", "TCP"}, {"targetPort", 80}}}}};
  EXPECT_THAT(one.at("spec"), JsonHas(spec));
  EXPECT_THAT(Put("services/one", Service("one")),
              Answers(200, {{"spec", {{"clusterIP", address}}}}));
}

TEST_F(ServiceTest, SomeHaveNone) {
  EXPECT_THAT(Post("services", Service("a", {{"clusterIP", "None"}})),
              Answers(201, R"({"spec": {"clusterIP": "None",
                                        "clusterIPs": ["None"]}})"_json));
  EXPECT_THAT(Post("services", Service("b", {{"type", "ExternalName"},
                                             {"externalName", "a.b"}})),
              Answers(201, R"({"spec": {"clusterIP": null}})"_json));
}

TEST_F(ServiceTest, NamesHaveNoDots) {
  EXPECT_THAT(Post("services?dryRun=All", Service("1a")), Answers(201));
  EXPECT_THAT(Post("services", Service("a.b")),
              Invalid("Service", "a.b",
                      {"metadata.name: Invalid value: \"a.b\": must not "
                       "contain dots"}));
}

}  // namespace
}  // namespace minisched
