// Reviews of access and identity. The server does not store reviews. The tests'
// client is allowed everything.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

constexpr char kAccess[] = "/apis/authorization.k8s.io/v1/";
constexpr char kSelfAccess[] =
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
constexpr char kSubjectAccess[] =
    "/apis/authorization.k8s.io/v1/subjectaccessreviews";
constexpr char kSelfRules[] =
    "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
constexpr char kSelf[] = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

// The group whose members may do everything in any cluster.
const json kMasters = {"system:masters"};

class ReviewTest : public ContractTest {
 protected:
  // Returns a review with this spec.
  static json Review(const json& spec) { return {{"spec", spec}}; }

  std::string LocalAccess() {
    return std::string(kAccess) + "namespaces/" + namespace_name() +
           "/localsubjectaccessreviews";
  }
};

TEST_F(ReviewTest, AllowsSelfSubjectAccess) {
  const json spec = {{"resourceAttributes",
                      {{"namespace", "default"},
                       {"verb", "list"},
                       {"group", "apps"},
                       {"resource", "deployments"},
                       {"subresource", "scale"},
                       {"name", "a"}}}};
  const Reply reply = Post(kSelfAccess, Review(spec));
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(reply.body, json({{"kind", "SelfSubjectAccessReview"},
                              {"apiVersion", "authorization.k8s.io/v1"},
                              {"metadata", json::object()},
                              {"spec", spec},
                              {"status", {{"allowed", true}}}}));
}

// Clients such as k9s send reviews for resources that may not exist.
TEST_F(ReviewTest, AllowsSelfSubjectAccessToUnknownResources) {
  EXPECT_THAT(Post(kSelfAccess,
                   Review({{"resourceAttributes",
                            {{"verb", "get"},
                             {"group", "x.y"},
                             {"resource", "nopes"},
                             {"labelSelector", {{"rawSelector", "a=b"}}}}}})),
              Answers(201, R"({"status": {"allowed": true}})"_json));
}

TEST_F(ReviewTest, AllowsSelfSubjectAccessToAPath) {
  EXPECT_THAT(Post(kSelfAccess, Review({{"nonResourceAttributes",
                                         {{"path", "/x"}, {"verb", "get"}}}})),
              Answers(201, R"({"status": {"allowed": true},
                       "spec": {"nonResourceAttributes":
                                    {"path": "/x", "verb": "get"}}})"_json));
}

TEST_F(ReviewTest, RejectsSelfSubjectAccessWithoutAttributes) {
  EXPECT_THAT(Post(kSelfAccess, json::object()),
              Invalid(".authorization.k8s.io", "",
                      {"spec: Invalid value: null: exactly one of "
                       "nonResourceAttributes or resourceAttributes must be "
                       "specified"}));
}

TEST_F(ReviewTest, RejectsSelfSubjectAccessWithBothAttributes) {
  json review = Review({{"resourceAttributes", {{"verb", "get"}}},
                        {"nonResourceAttributes", {{"path", "/x"}}}});
  review["metadata"]["name"] = "a";
  EXPECT_THAT(
      Post(kSelfAccess, review),
      Invalid(".authorization.k8s.io", "",
              {"spec: Invalid value: ...", "metadata: Invalid value: ..."}));
}

TEST_F(ReviewTest, AllowsSubjectAccess) {
  const json spec = {{"user", "somebody"},
                     {"groups", kMasters},
                     {"uid", "u"},
                     {"extra", {{"scopes", {"a", "b"}}}},
                     {"resourceAttributes", {{"verb", "*"}}}};
  EXPECT_THAT(Post(kSubjectAccess, Review(spec)),
              Answers(201, {{"kind", "SubjectAccessReview"},
                            {"metadata", json::object()},
                            {"spec", spec},
                            {"status", {{"allowed", true}}}}));
}

TEST_F(ReviewTest, RejectsSubjectAccessWithoutASubject) {
  json review = Review(json::object());
  review["metadata"]["labels"] = {{"a", "b"}};
  EXPECT_THAT(Post(kSubjectAccess, review),
              Invalid(".authorization.k8s.io", "",
                      {"spec: Invalid value: ...",
                       "spec.user: Invalid value: \"\": at least one of user "
                       "or group must be specified",
                       "metadata: Invalid value: ..."}));
}

TEST_F(ReviewTest, AllowsLocalSubjectAccess) {
  const json spec = {{"groups", kMasters},
                     {"resourceAttributes",
                      {{"verb", "get"},
                       {"resource", "pods"},
                       {"namespace", namespace_name()}}}};
  EXPECT_THAT(Post(LocalAccess(), Review(spec)),
              Answers(201, {{"kind", "LocalSubjectAccessReview"},
                            {"metadata", {{"namespace", namespace_name()}}},
                            {"spec", spec},
                            {"status", {{"allowed", true}}}}));
  // The namespace need not exist.
  EXPECT_THAT(Post(std::string(kAccess) +
                       "namespaces/contract-nowhere/localsubjectaccessreviews",
                   Review({{"groups", kMasters},
                           {"resourceAttributes",
                            {{"namespace", "contract-nowhere"}}}})),
              Answers(201));
}

TEST_F(ReviewTest, RejectsLocalSubjectAccessToAnotherNamespace) {
  json review = Review({{"user", "u"},
                        {"resourceAttributes", {{"namespace", "elsewhere"}}},
                        {"nonResourceAttributes", {{"path", "/x"}}}});
  review["metadata"]["name"] = "a";
  EXPECT_THAT(
      Post(LocalAccess(), review),
      Invalid(".authorization.k8s.io", "",
              {"spec: Invalid value: ...", "metadata: Invalid value: ...",
               "spec.resourceAttributes.namespace: Invalid value: "
               "\"elsewhere\": must match metadata.namespace",
               "spec.nonResourceAttributes: Invalid value: ..."}));
}

TEST_F(ReviewTest, ListsSelfSubjectRules) {
  const Reply reply = Post(kSelfRules, Review({{"namespace", "default"}}));
  EXPECT_THAT(reply, Answers(201, {{"kind", "SelfSubjectRulesReview"},
                                   {"metadata", json::object()},
                                   {"spec", json::object()},
                                   {"status", {{"incomplete", false}}}}));
  const json all = {"*"};
  EXPECT_THAT(reply.body.at("status").at("resourceRules"),
              testing::Contains(json(
                  {{"verbs", all}, {"apiGroups", all}, {"resources", all}})));
  EXPECT_THAT(
      reply.body.at("status").at("nonResourceRules"),
      testing::Contains(json({{"verbs", all}, {"nonResourceURLs", all}})));
}

TEST_F(ReviewTest, SelfSubjectRulesNeedANamespace) {
  EXPECT_THAT(Post(kSelfRules, json::object()),
              Refuses(400, "BadRequest", "no namespace on request"));
}

TEST_F(ReviewTest, ReturnsTheUserOfTheClient) {
  const Reply reply = Post(kSelf, json::object());
  EXPECT_THAT(reply, Answers(201, R"({
    "kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1",
    "metadata": {"creationTimestamp": "..."},
    "status": {"userInfo": {"username": "..."}}})"_json));
  EXPECT_FALSE(reply.body.at("status").at("userInfo").at("groups").empty());
}

TEST_F(ReviewTest, ReviewsAreNotStored) {
  for (const char* path : {kSelfAccess, kSubjectAccess, kSelfRules, kSelf}) {
    SCOPED_TRACE(path);
    EXPECT_THAT(Get(path), Refuses(405, "MethodNotAllowed", testing::_));
    EXPECT_THAT(Get(std::string(path) + "/a"), Answers(404));
    EXPECT_THAT(Post(std::string(path) + "/a/status", json::object()),
                Answers(404));
  }
  EXPECT_THAT(Send("DELETE", LocalAccess(), ""),
              Refuses(405, "MethodNotAllowed", testing::_));
  EXPECT_THAT(Get(LocalAccess() + "/a"), Answers(404));
}

TEST_F(ReviewTest, ValidatesOptionsAndBodies) {
  const json review = Review({{"resourceAttributes", {{"verb", "get"}}}});
  EXPECT_THAT(Post(std::string(kSelfAccess) + "?dryRun=All", review),
              Answers(201, R"({"status": {"allowed": true}})"_json));
  EXPECT_THAT(Post(std::string(kSelfAccess) + "?dryRun=Nope", review),
              Refuses(422, "Invalid", testing::_));
  EXPECT_THAT(Post(kSelfAccess, {{"kind", "Pod"}, {"apiVersion", "v1"}}),
              Refuses(400, "BadRequest", testing::_));
}

}  // namespace
}  // namespace minisched
