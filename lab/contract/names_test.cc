// Validation of metadata: names, labels, annotations, owners.

#include "lab/contract/contract_testing.h"
#include "lab/contract/messages_testing.h"

namespace minisched {
namespace {

using testing::HasSubstr;

class NamesTest : public ContractTest {
 protected:
  // Creates a config map "a" with this metadata as a dry run.
  Reply Try(const std::string& metadata) {
    return Post("configmaps?dryRun=All",
                Named("a", {{"metadata", json::parse(metadata)}}));
  }
};

TEST_F(NamesTest, RejectsAMissingName) {
  EXPECT_THAT(Post("configmaps", R"({"metadata": {}})"_json),
              Invalid("ConfigMap", "",
                      {"metadata.name: Required value: name or generateName is "
                       "required"}));
}

TEST_F(NamesTest, RejectsInvalidNames) {
  for (const std::string name : {"Web", "a_b", "-a", "a.", "a b"}) {
    EXPECT_THAT(Post("configmaps", Named(name)),
                Invalid("ConfigMap", name,
                        {"metadata.name: Invalid value: \"" + name +
                         "\": " + kNoSubdomain}));
  }
  EXPECT_THAT(
      Post("pods", Pod("Web")),
      Invalid("Pod", "Web",
              {"metadata.name: Invalid value: \"Web\": " + kNoSubdomain}));
}

TEST_F(NamesTest, RejectsLongNames) {
  const std::string name(254, 'a');
  EXPECT_THAT(Post("configmaps", Named(name)),
              Invalid("ConfigMap", name,
                      {"metadata.name: Invalid value: \"" + name +
                       "\": must be no more than 253 characters"}));
  EXPECT_THAT(Post("configmaps?dryRun=All", Named(name.substr(1))),
              Answers(201));
}

TEST_F(NamesTest, ReportsAllErrorsOfAName) {
  const std::string name(254, 'A');
  const std::string start = "metadata.name: Invalid value: \"" + name + "\": ";
  EXPECT_THAT(Post("configmaps", Named(name)),
              Invalid("ConfigMap", name,
                      {start + "must be no more than 253 characters",
                       start + kNoSubdomain}));
}

TEST_F(NamesTest, RejectsAnInvalidGenerateName) {
  const Reply reply =
      Post("configmaps", R"({"metadata": {"generateName": "Bad_"}})"_json);
  EXPECT_THAT(reply, Refuses(422, "Invalid", HasSubstr("Bad_")));
  EXPECT_THAT(reply.body.at("details").at("causes"),
              JsonHas(R"([{"field": "metadata.generateName"},
                          {"field": "metadata.name"}])"_json));
}

TEST_F(NamesTest, RbacAllowsMoreNames) {
  Create("roles", Named("system:a b"));
  EXPECT_THAT(Get("roles/system:a b"), Answers(200));
  EXPECT_THAT(Post("roles", Named("..")),
              Invalid("Role.rbac.authorization.k8s.io", "..",
                      {"metadata.name: Invalid value: \"..\": may not be "
                       "'..'"}));
  EXPECT_THAT(Post("roles", Named("a/%")),
              Invalid("Role.rbac.authorization.k8s.io", "a/%",
                      {"metadata.name: Invalid value: \"a/%\": may not "
                       "contain '/'",
                       "metadata.name: Invalid value: \"a/%\": may not "
                       "contain '%'"}));
}

TEST_F(NamesTest, CronJobsHaveShorterNames) {
  const std::string name(53, 'a');
  const json cron_job = R"({"spec": {"schedule": "0 0 1 1 *",
    "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never",
      "containers": [{"name": "c", "image": "i"}]}}}}}})"_json;
  EXPECT_THAT(Post("cronjobs", Named(name, cron_job)),
              Invalid("CronJob.batch", name,
                      {"metadata.name: Invalid value: \"" + name +
                       "\": must be no more than 52 characters"}));
  EXPECT_THAT(Post("cronjobs?dryRun=All", Named(name.substr(1), cron_job)),
              Answers(201));
}

TEST_F(NamesTest, InvalidNamesInPathsAreNotFound) {
  EXPECT_THAT(Get("pods/A_b"),
              Refuses(404, "NotFound", "pods \"A_b\" not found"));
}

TEST_F(NamesTest, RejectsInvalidLabels) {
  EXPECT_THAT(
      Try(R"({"labels": {"a b": "x", "ok": "no!"}})"),
      Invalid("ConfigMap", "a",
              {"metadata.labels: Invalid value: \"a b\": " + kNoQualifiedName,
               "metadata.labels: Invalid value: \"no!\": " + kNoLabelValue}));
}

TEST_F(NamesTest, AcceptsValidLabels) {
  EXPECT_THAT(Try(R"({"labels": {"a.b/c_D-1": "x_Y.z-1", "e": ""}})"),
              Answers(201));
}

TEST_F(NamesTest, RejectsLongLabels) {
  const std::string name(64, 'a');
  EXPECT_THAT(Try(R"({"labels": {")" + name + R"(": "x"}})"),
              Invalid("ConfigMap", "a",
                      {"metadata.labels: Invalid value: \"" + name +
                       "\": name part must be no more than 63 bytes"}));
  EXPECT_THAT(Try(R"({"labels": {"x": ")" + name + R"("}})"),
              Invalid("ConfigMap", "a",
                      {"metadata.labels: Invalid value: \"" + name +
                       "\": must be no more than 63 bytes"}));
}

TEST_F(NamesTest, ReportsAllErrorsOfALabel) {
  const std::string key = std::string(254, 'A') + "/" + std::string(64, '-');
  const std::string value(64, '-');
  const std::string of_key =
      "metadata.labels: Invalid value: \"" + key + "\": ";
  const std::string of_value =
      "metadata.labels: Invalid value: \"" + value + "\": ";
  EXPECT_THAT(Try(R"({"labels": {")" + key + R"(": ")" + value + R"("}})"),
              Invalid("ConfigMap", "a",
                      {of_key + "prefix part must be no more than 253 bytes",
                       of_key + "prefix part " + kNoSubdomain,
                       of_key + "name part must be no more than 63 bytes",
                       of_key + kNoQualifiedName,
                       of_value + "must be no more than 63 bytes",
                       of_value + kNoLabelValue}));
}

TEST_F(NamesTest, RejectsInvalidLabelPrefixes) {
  EXPECT_THAT(Try(R"({"labels": {"A/b": "x", "a/b/c": "x"}})"),
              Invalid("ConfigMap", "a",
                      {"metadata.labels: Invalid value: \"A/b\": prefix part " +
                           kNoSubdomain,
                       "metadata.labels: Invalid value: \"a/b/c\": a valid "
                       "label key must consist of..."}));
}

TEST_F(NamesTest, LabelsMustBeStrings) {
  EXPECT_THAT(Try(R"({"labels": {"a": 1}})"),
              Refuses(400, "BadRequest",
                      testing::StartsWith(
                          "ConfigMap in version \"v1\" cannot be handled as a "
                          "ConfigMap: json: cannot unmarshal number ")));
}

TEST_F(NamesTest, RejectsInvalidAnnotations) {
  EXPECT_THAT(Try(R"({"annotations": {"-x": "any text!"}})"),
              Invalid("ConfigMap", "a",
                      {"metadata.annotations: Invalid value: \"-x\": " +
                       kNoQualifiedName}));
}

TEST_F(NamesTest, RejectsInvalidOwners) {
  EXPECT_THAT(
      Try(R"({"ownerReferences": [{"kind": "x"}]})"),
      Invalid("ConfigMap", "a",
              {"metadata.ownerReferences[0].apiVersion: Required value: must "
               "not be empty",
               "metadata.ownerReferences[0].name: Required value: must not be "
               "empty",
               "metadata.ownerReferences[0].uid: Required value: must not be "
               "empty"}));
  for (const char* version : {"/", "apps/", "a/b/v1"}) {
    const json owner = {
        {"apiVersion", version}, {"kind", "x"}, {"name", "y"}, {"uid", "z"}};
    EXPECT_THAT(
        Try(json{{"ownerReferences", {owner}}}.dump()),
        Invalid("ConfigMap", "a",
                {"metadata.ownerReferences[0].apiVersion: Invalid value: \"" +
                 std::string(version) +
                 "\": must be <group>/<version> or <version>"}));
  }
}

TEST_F(NamesTest, RejectsASecondController) {
  const auto try_owners = [this](bool second_controls) {
    json owners = R"([
      {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "1",
       "controller": true},
      {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "2"}])"_json;
    owners[1]["controller"] = second_controls;
    return Try(json{{"ownerReferences", owners}}.dump());
  };
  EXPECT_THAT(try_owners(false), Answers(201));
  const Reply two = try_owners(true);
  EXPECT_THAT(two,
              Refuses(422, "Invalid",
                      HasSubstr("Only one reference can have Controller set to "
                                "true. Found \"true\" in references for Node/n "
                                "and Pod/p")));
  EXPECT_THAT(two.body.at("details").at("causes"),
              JsonHas(R"([{"reason": "FieldValueInvalid",
                           "field": "metadata.ownerReferences"}])"_json));
}

}  // namespace
}  // namespace minisched
