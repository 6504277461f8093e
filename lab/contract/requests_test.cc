// Requests in general: paths, methods, media types, bodies.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

using RequestsTest = ContractTest;

constexpr char kNoResource[] =
    "the server could not find the requested resource";
constexpr char kNoMethod[] =
    "the server does not allow this method on the requested resource";

TEST_F(RequestsTest, UnknownResourcesAreNotFound) {
  for (const char* path :
       {"/api/v1/nope", "/api/v2", "/apis/apps/v2", "/apis/apps/v1/nope",
        "/api/v1/namespaces/default/nope", "/api/v1/namespaces/default/nope/x",
        "/api/v1/namespaces/default/pods/x/nope",
        "/api/v1/namespaces/default/nodes"}) {
    EXPECT_THAT(Get(path), Refuses(404, "NotFound", kNoResource)) << path;
  }
}

TEST_F(RequestsTest, PathsOutsideOfTheApiAreNotFound) {
  for (const char* path : {"/nope", "/apis/nope/v1", "/apis/nope"}) {
    EXPECT_EQ(Get(path).status, 404) << path;
  }
}

TEST_F(RequestsTest, PostToAnUnknownPathReturnsNotFound) {
  for (const char* path : {"/nope", "/api/v1/nopes", "/apis/apps/v2"}) {
    EXPECT_EQ(Post(path, json::object()).status, 404) << path;
  }
  // A Binding can only be created, so there is no path with a name.
  EXPECT_EQ(Get("bindings/a").status, 404);
  EXPECT_EQ(Post("bindings/a", json::object()).status, 404);
}

TEST_F(RequestsTest, RejectsMethodsThatAResourceDoesNotHave) {
  const auto refused = Refuses(405, "MethodNotAllowed", kNoMethod);
  EXPECT_THAT(Post("configmaps/a", json::object()), refused);
  EXPECT_THAT(Put("configmaps", json::object()), refused);
  EXPECT_THAT(MergePatch("configmaps", json::object()), refused);
  EXPECT_THAT(Delete("/api/v1/namespaces"), refused);
  EXPECT_THAT(Put("pods/a/binding", json::object()), refused);
  EXPECT_THAT(Get("pods/a/binding"), refused);
  EXPECT_THAT(Get("bindings"), refused);
  EXPECT_THAT(Post("/api/v1/pods", Pod("a")), refused);
  EXPECT_THAT(Post("/version", json::object()), refused);
}

TEST_F(RequestsTest, RejectsABodyThatIsNotJson) {
  const std::string message =
      "the object provided is unrecognized (must be of type ConfigMap): "
      "couldn't get version/kind; json parse error: ";
  for (const char* body : {"", "{\"a\":", "[]", "\"x\"", "{bad"}) {
    EXPECT_THAT(Send("POST", "configmaps", body),
                Refuses(400, "BadRequest", StartsWith(message)))
        << body;
  }
}

TEST_F(RequestsTest, RejectsFieldsOfTheWrongType) {
  EXPECT_THAT(Post("configmaps", R"({"metadata": {"name": 5}})"_json),
              Refuses(400, "BadRequest",
                      StartsWith("ConfigMap in version \"v1\" cannot be "
                                 "handled as a ConfigMap: json: cannot "
                                 "unmarshal number ")));
  EXPECT_THAT(
      Post("pods", Pod("p", R"({"spec": {"containers": "x"}})"_json)),
      Refuses(400, "BadRequest",
              StartsWith("Pod in version \"v1\" cannot be handled as a Pod: "
                         "json: cannot unmarshal string into ")));
}

TEST_F(RequestsTest, RejectsAnObjectOfAnotherKind) {
  EXPECT_THAT(Post("configmaps", Pod("a")),
              Refuses(400, "BadRequest",
                      StartsWith("Pod in version \"v1\" cannot be handled as a "
                                 "ConfigMap: ")));
  EXPECT_THAT(Put("configmaps/a", Pod("a")),
              Refuses(400, "BadRequest",
                      StartsWith("Pod in version \"v1\" cannot be handled as a "
                                 "ConfigMap: ")));
}

TEST_F(RequestsTest, RejectsAnUnknownVersion) {
  EXPECT_THAT(
      Post("configmaps", R"({"kind": "ConfigMap", "apiVersion": "v2",
                             "metadata": {"name": "a"}})"_json),
      Refuses(400, "BadRequest",
              StartsWith("ConfigMap in version \"v2\" cannot be handled as a "
                         "ConfigMap: no kind \"ConfigMap\" is registered for "
                         "version \"v2\"")));
}

TEST_F(RequestsTest, RejectsABodyThatIsTooLarge) {
  EXPECT_THAT(Send("POST", "configmaps", std::string(4 << 20, ' ')),
              Refuses(413, "RequestEntityTooLarge",
                      "Request entity too large: limit is 3145728"));
}

TEST_F(RequestsTest, RejectsABodyOfAnUnknownType) {
  EXPECT_THAT(
      Send("POST", "configmaps", "{}", {{"Content-Type", "text/plain"}}),
      Refuses(415, "UnsupportedMediaType",
              StartsWith("the body of the request was in an unknown "
                         "format - accepted media types include: "
                         "application/json")));
}

TEST_F(RequestsTest, AcceptsAMediaTypeWithParameters) {
  EXPECT_THAT(Send("POST", "configmaps", Named("a").dump(),
                   {{"Content-Type", "application/json; charset=utf-8"}}),
              Answers(201));
}

TEST_F(RequestsTest, RejectsAnUnknownAcceptType) {
  EXPECT_THAT(
      Get("pods", {{"Accept", "text/plain"}}),
      Refuses(406, "NotAcceptable",
              StartsWith("406: Not Acceptable\n\nAvailable representations: "
                         "application/json")));
}

TEST_F(RequestsTest, AnswersInJsonIfTheClientAcceptsJson) {
  for (const char* accept : {"*/*", "image/png, */*;q=0.5",
                             "application/vnd.nope, application/json"}) {
    const Reply reply = Get("pods", {{"Accept", accept}});
    EXPECT_THAT(reply, Answers(200, R"({"kind": "PodList"})"_json)) << accept;
    EXPECT_EQ(reply.headers.at("content-type"), "application/json");
  }
}

TEST_F(RequestsTest, ADryRunChangesNothing) {
  const Reply reply = Post("pods?dryRun=All", Pod("a"));
  EXPECT_THAT(reply, Answers(201, R"({
    "metadata": {"uid": "...", "creationTimestamp": "...",
                 "resourceVersion": null},
    "status": {"phase": "Pending"}})"_json));
  EXPECT_THAT(Get("pods/a"), Answers(404));
  const json object = Create("configmaps", Named("a"));
  const json change = Named("a", R"({"data": {"k": "v"}})"_json);
  EXPECT_THAT(Put("configmaps/a?dryRun=All", change), Answers(200, change));
  EXPECT_THAT(MergePatch("configmaps/a?dryRun=All", change),
              Answers(200, change));
  EXPECT_EQ(Read("configmaps/a"), object);
}

TEST_F(RequestsTest, ADryRunRejectsADuplicate) {
  Create("configmaps", Named("a"));
  EXPECT_THAT(Post("configmaps?dryRun=All", Named("a")),
              Refuses(409, "AlreadyExists", testing::_));
}

TEST_F(RequestsTest, RejectsInvalidOptions) {
  EXPECT_THAT(Post("configmaps?dryRun=Nope", Named("a")),
              Invalid("CreateOptions.meta.k8s.io", "",
                      {"dryRun: Unsupported value: [\"Nope\"]: supported "
                       "values: \"All\""}));
  EXPECT_THAT(
      Post("configmaps?fieldValidation=Nope", Named("a")),
      Invalid("CreateOptions.meta.k8s.io", "",
              {"fieldValidation: Unsupported value: \"Nope\": supported "
               "values: \"\", \"Ignore\", \"Strict\", \"Warn\""}));
}

TEST_F(RequestsTest, WarnsAboutUnknownFields) {
  const json pod = Pod("p", R"({"spec": {"foo": "bar", "containers": [
    {"name": "c", "image": "i", "bogus": 1}]}})"_json);
  for (const char* query :
       {"?dryRun=All", "?dryRun=All&fieldValidation=Warn"}) {
    const Reply reply = Post("pods" + std::string(query), pod);
    EXPECT_THAT(reply, Answers(201, R"({"spec": {"foo": null}})"_json));
    ASSERT_TRUE(reply.headers.contains("warning")) << query;
    EXPECT_EQ(reply.headers.at("warning"),
              "299 - \"unknown field \\\"spec.containers[0].bogus\\\"\", "
              "299 - \"unknown field \\\"spec.foo\\\"\"");
  }
}

TEST_F(RequestsTest, TruncatesLongWarnings) {
  const auto warning = [](const std::string& name) {
    return "299 - \"unknown field \\\"" + name;
  };
  const std::string name(64 << 10, 'x');
  EXPECT_EQ(
      Post("configmaps?dryRun=All", Named("a", {{name, 1}}))
          .headers.at("warning"),
      warning(name.substr(0, 256 - std::string("unknown field \"").size())) +
          "\"");
}

TEST_F(RequestsTest, LimitsTheNumberAndLengthOfWarnings) {
  const auto count_warnings = [&](int number, std::size_t length) {
    json object = Named("a");
    for (int i = 0; i < number; ++i) {
      std::string name = std::to_string(1000 + i);
      name.resize(length, 'x');
      object[name] = 1;
    }
    const std::string header =
        Post("configmaps?dryRun=All", object).headers.at("warning");
    int count = 0;
    for (auto at = header.find("299 - "); at != header.npos;
         at = header.find("299 - ", at + 1)) {
      ++count;
    }
    return count;
  };
  EXPECT_EQ(count_warnings(200, 4), 100);
  // Each warning has 106 characters: "unknown field ", two quotes and the name.
  // The server adds warnings until they have 4096 characters: 38 have 4028, and
  // 39 have 4134.
  EXPECT_EQ(count_warnings(60, 90), 39);
}

TEST_F(RequestsTest, IgnoresUnknownFieldsIfAsked) {
  const Reply reply =
      Post("configmaps?fieldValidation=Ignore", Named("a", {{"foo", 1}}));
  EXPECT_THAT(reply, Answers(201, R"({"foo": null})"_json));
  EXPECT_FALSE(reply.headers.contains("warning"));
}

TEST_F(RequestsTest, RejectsUnknownFieldsIfStrict) {
  EXPECT_THAT(Send("POST", "configmaps?fieldValidation=Strict",
                   R"({"metadata": {"name": "b"}, "foo": 1})"),
              Refuses(400, "BadRequest",
                      "ConfigMap in version \"v1\" cannot be handled as a "
                      "ConfigMap: strict decoding error: unknown field "
                      "\"foo\""));
  EXPECT_THAT(Get("configmaps/b"), Answers(404));
}

TEST_F(RequestsTest, ValidatesFieldsOfPatches) {
  Create("configmaps", Named("a"));
  EXPECT_THAT(
      StrategicPatch("configmaps/a?fieldValidation=Strict", {{"foo", 5}}),
      Refuses(422, "Invalid",
              HasSubstr("strict decoding error: unknown field \"foo\"")));
  EXPECT_EQ(StrategicPatch("configmaps/a", {{"foo", 5}}).headers.at("warning"),
            "299 - \"unknown field \\\"foo\\\"\"");
}

}  // namespace
}  // namespace minisched
