#include <fmt/format.h>
#include <gmock/gmock.h>
#include <time.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <protozero/pbf_writer.hpp>
#include <string>

#include "lab/apiserver/controllers/cluster_testing.h"
#include "lab/apiserver/controllers/controllers.h"
#include "lab/apiserver/errors.h"
#include "lab/apiserver/limits.h"
#include "lab/apiserver/request_info.h"
#include "lab/apiserver/rest.h"
#include "minisched/api/parse_error.h"

namespace minisched::apiserver {
namespace {

// These tests measure the time of requests with the largest body that the
// server accepts, or with a body that the server refuses only after some work.
//
// An optimised build takes less than half a second for each request. A debug
// build, a build with sanitizers or a slow machine takes longer. So the tests
// divide the time by that of a reference task, which reads, copies and writes a
// document with almost kMaxValues values. The requests take up to 6 times as
// long as the reference task. A request with quadratic work takes at least 50
// times as long, and often minutes. All times are the CPU time of the thread,
// so other load on the machine doesn't matter.
constexpr double kMaxRatio = 20;

double CpuSeconds(const std::function<void()>& action) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_nsec) / 1e9;
  };
  const double start = now();
  action();
  return now() - start;
}

constexpr char kPods[] = "/api/v1/namespaces/default/pods";
constexpr char kPod[] = "/api/v1/namespaces/default/pods/a";
constexpr char kStatus[] = "/api/v1/namespaces/default/pods/a/status";
constexpr char kJsonPatch[] = "application/json-patch+json";
constexpr char kMerge[] = "application/merge-patch+json";
constexpr char kStrategic[] = "application/strategic-merge-patch+json";

// Returns "TEXT,TEXT,…" with `size` texts. In each text, {} is replaced by the
// index of the text.
std::string List(int size, const std::string& text) {
  std::string list;
  for (int i = 0; i < size; ++i) {
    if (i > 0) list += ',';
    list += fmt::format(fmt::runtime(text), i);
  }
  return list;
}

// Returns a pod with these members in its metadata and its spec, as JSON.
std::string Pod(const std::string& metadata, const std::string& spec = "") {
  const std::string comma = ",";
  return R"({"metadata":{"name":"a")" + (metadata.empty() ? "" : comma) +
         metadata + R"(},"spec":{"containers":[{"name":"c","image":"i"}])" +
         (spec.empty() ? "" : comma) + spec + "}}";
}
std::string PodWithContainers(const std::string& containers) {
  return R"({"metadata":{"name":"a"},"spec":{"containers":[)" + containers +
         "]}}";
}

// Returns the CPU time of the reference task: the shortest of three runs.
double ReferenceSeconds() {
  const std::string text =
      "[" + List(33'000, R"({{"name":"n{}","image":"i"}})") + "]";
  double shortest = std::numeric_limits<double>::max();
  for (int i = 0; i < 3; ++i) {
    shortest = std::min(shortest, CpuSeconds([&] {
                          const Json document = Json::parse(text);
                          Json copy = document;
                          copy.erase(copy.begin());
                          EXPECT_LT(Dump(copy).size(), text.size());
                        }));
  }
  return shortest;
}

class LargestRequestTest : public ::testing::Test {
 protected:
  LargestRequestTest() {
    static const double seconds = ReferenceSeconds();
    reference_seconds_ = seconds;
  }

  // Sends a request and lets the controllers run. Expects the status, and a
  // time below kMaxRatio times that of the reference task.
  void Expect(int status, const std::string& method, const std::string& target,
              const std::string& body = "",
              const std::string& type = "application/json") {
    Request request{
        .method = method, .headers = {{"content-type", type}}, .body = body};
    if (method == "GET") {
      request.headers["accept"] =
          "application/json;as=Table;v=v1;g=meta.k8s.io";
    }
    ASSERT_TRUE(ParseTarget(target, request));
    ASSERT_LE(body.size(), kMaxBytes);
    Reply reply;
    const double seconds = CpuSeconds([&] {
      reply = Serve(request);
      cluster_.loop.Advance(std::chrono::milliseconds(100));
    });
    const std::string what =
        method + " " + target + " " + body.substr(0, 100) + "…";
    EXPECT_EQ(reply.status, status) << what << reply.body.substr(0, 300);
    const double ratio = seconds / reference_seconds_;
    EXPECT_LT(ratio, kMaxRatio) << what;
    highest_ratio_ = std::max(highest_ratio_, ratio);
  }

  void TearDown() override {
    RecordProperty("highest_ratio", std::to_string(highest_ratio_));
  }

 private:
  Reply Serve(const Request& request) {
    try {
      return ServeResource(cluster_.registry, request,
                           *RequestInfo::Parse(request));
    } catch (const StatusError& error) {
      return error.ToReply();
    } catch (const ParseError& error) {
      return BadRequest(error.what()).ToReply();
    }
  }

  TestCluster cluster_;
  std::unique_ptr<Controller> kubelets_ =
      NewKubeletSimulator(cluster_.registry);
  std::unique_ptr<Controller> garbage_ = NewGarbageCollector(cluster_.registry);
  std::unique_ptr<Controller> disruption_ =
      NewDisruptionController(cluster_.registry);
  double reference_seconds_ = 0;
  double highest_ratio_ = 0;
};

TEST_F(LargestRequestTest, JsonAndYamlBodiesAreFast) {
  const std::string objects = List(300'000, "{{}}");
  Expect(413, "POST", kPods, "[" + objects + "]");
  Expect(400, "POST", kPods, std::string(1'500'000, '['));
  Expect(400, "POST", kPods,
         std::string(1'500'000, '[') + std::string(1'500'000, ']'));
  Expect(400, "POST", kPods, std::string(3'000'000, '9'));
  Expect(400, "POST", kPods, "x: [" + List(400'000, "a") + "]",
         "application/yaml");
  Expect(413, "POST", kPods, "x: [" + List(150'000, "a") + "]",
         "application/yaml");
  Expect(400, "POST", kPods, "x: " + std::string(1'500'000, '['),
         "application/yaml");
  Expect(201, "POST", kPods, Pod(R"("x":[)" + List(99'000, "{{}}") + "]"));
  Expect(400, "POST", std::string(kPods) + "?fieldValidation=Strict",
         Pod(List(99'000, R"("x{}":0)")));
}

TEST_F(LargestRequestTest, ProtobufBodiesAreFast) {
  const auto message = [](const auto& fill) {
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    fill(writer);
    return bytes;
  };
  const std::string type = message([](auto& writer) {
    writer.add_string(1, "v1");
    writer.add_string(2, "Pod");
  });
  const std::string spec = message([](auto& writer) {
    for (int i = 0; i < 1'500'000; ++i) writer.add_message(2, std::string());
  });
  const std::string pod =
      message([&](auto& writer) { writer.add_message(2, spec); });
  Expect(413, "POST", kPods,
         std::string("k8s\0", 4) + message([&](auto& writer) {
           writer.add_message(1, type);
           writer.add_message(2, pod);
         }),
         "application/vnd.kubernetes.protobuf");
}

TEST_F(LargestRequestTest, MetadataIsFast) {
  Expect(422, "POST", kPods,
         Pod(R"("labels":{)" + List(99'000, R"("n{}":"-")") + "}"));
  Expect(422, "POST", kPods,
         Pod(R"("ownerReferences":[)" +
             List(16'000, R"({{"apiVersion":"v1","kind":"X","name":"a",
                               "uid":"u","controller":true}})") +
             "]"));
  Expect(201, "POST", kPods,
         Pod(R"("ownerReferences":[)" +
             List(19'000, R"({{"apiVersion":"v1","kind":"Pod","name":"a{0}",
                               "uid":"u{0}"}})") +
             "]"));
  const std::string configmaps = "/api/v1/namespaces/default/configmaps";
  const auto named = [](const std::string& metadata) {
    return R"({"metadata":{"name":"m",)" + metadata + "}}";
  };
  const std::string labels =
      named(R"("labels":{)" + List(99'000, R"("n{}":"1")") + "}");
  Expect(201, "POST", configmaps, labels);
  Expect(200, "PUT", configmaps + "/m", labels);
  Expect(200, "GET", configmaps + "?labelSelector=n1%3D1");
  Expect(200, "DELETE", configmaps + "/m");
  Expect(201, "POST", configmaps,
         named(R"("managedFields":[)" + List(49'000, R"({{"manager":"m"}})") +
               "]"));
  Expect(200, "DELETE", configmaps + "/m");
  Expect(201, "POST", configmaps,
         named(R"("finalizers":[)" + List(99'000, R"("a/n{}")") + "]"));
  Expect(200, "PATCH", configmaps + "/m",
         R"({"metadata":{"$deleteFromPrimitiveList/finalizers":[)" +
             List(90'000, R"("a/n{}")") + "]}}",
         kStrategic);
  Expect(200, "PATCH", configmaps + "/m",
         R"({"metadata":{"finalizers":[)" + List(80'000, R"("a/m{}")") + "]}}",
         kStrategic);
  Expect(200, "DELETE", configmaps + "/m",
         R"({"propagationPolicy":"Foreground"})");
}

TEST_F(LargestRequestTest, ContainersAreFast) {
  Expect(422, "POST", kPods, PodWithContainers(List(99'000, "{{}}")));
  const std::string quantities = List(90'000, R"("n{}":"1")");
  Expect(
      422, "POST", kPods,
      PodWithContainers(R"({"name":"c","image":"i","resources":{"requests":{)" +
                        quantities + "}}}"));
  Expect(400, "POST", kPods,
         PodWithContainers(
             R"({"name":"c","image":"i","resources":{"requests":{"cpu":")" +
             std::string(3'000'000, '9') + "\"}}}"));
  Expect(201, "POST", kPods,
         PodWithContainers(List(5'000, R"({{"name":"n{}","image":"i"}})")));
  Expect(200, "PATCH", kStatus,
         R"({"status":{"containerStatuses":[)" +
             List(5'000, R"({{"name":"n{}"}})") + "]}}",
         kMerge);
  Expect(413, "PATCH", kStatus,
         R"({"status":{"containerStatuses":[)" +
             List(24'000, R"({{"name":"n{}"}})") + "]}}",
         kMerge);
  Expect(200, "GET", kPods);
}

TEST_F(LargestRequestTest, TolerationsAndGatesAreFast) {
  Expect(201, "POST", kPods,
         Pod("", R"("tolerations":[)" + List(24'000, R"({{"key":"n{}"}})") +
                     R"(],"schedulingGates":[)" +
                     List(24'000, R"({{"name":"n{}"}})") + "]"));
  Expect(200, "PATCH", kPod, R"({"metadata":{"labels":{"a":"b"}}})", kMerge);
  Expect(422, "PATCH", kPod,
         R"({"spec":{"schedulingGates":[)" +
             List(20'000, R"({{"name":"m{}"}})") + R"(],"tolerations":[)" +
             List(20'000, R"({{"key":"m{}"}})") + "]}}",
         kMerge);
}

TEST_F(LargestRequestTest, ConditionsAreFast) {
  Expect(201, "POST", kPods,
         Pod("", R"("readinessGates":[)" +
                     List(20'000, R"({{"conditionType":"n{}"}})") + "]"));
  Expect(200, "PATCH", kStatus,
         R"({"status":{"conditions":[)" +
             List(10'000, R"({{"type":"m{}","status":"True"}})") + "]}}",
         kMerge);
  Expect(200, "GET", kPods);
}

TEST_F(LargestRequestTest, AffinityIsFast) {
  const std::string term = R"({{"topologyKey":"z","labelSelector":
      {{"matchLabels":{{"a":"-"}}}}}})";
  Expect(422, "POST", kPods,
         Pod("", R"("affinity":{"podAffinity":{
                "requiredDuringSchedulingIgnoredDuringExecution":[)" +
                     List(19'000, term) + "]}}"));
  Expect(422, "POST", kPods,
         Pod("", R"("affinity":{"nodeAffinity":{
                "requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms":[)" +
                     List(19'000, R"({{"matchExpressions":[{{"key":"-",
                                       "operator":"X"}}]}})") +
                     "]}}}"));
  const auto spread = [](const std::string& value) {
    return Pod(R"("labels":{"a":")" + value + "\"}",
               R"("topologySpreadConstraints":[{"maxSkew":1,
                  "topologyKey":"z","whenUnsatisfiable":"DoNotSchedule",
                  "labelSelector":{},"matchLabelKeys":[)" +
                   List(90'000, "\"a\"") + "]}]");
  };
  Expect(422, "POST", kPods, spread(std::string(1'000'000, 'x')));
  Expect(413, "POST", kPods, spread("x"));
}

TEST_F(LargestRequestTest, SpecUpdatesAreFast) {
  Expect(201, "POST", kPods,
         PodWithContainers(R"({"name":"c","image":"i","args":[)" +
                           List(90'000, "\"a\"") + "]}"));
  Expect(422, "PATCH", kPod,
         R"([{"op":"replace","path":"/spec/containers/0/args",
              "value":["a"]}])",
         kJsonPatch);
  Expect(422, "PATCH", kPod,
         R"({"spec":{"nodeSelector":{")" + std::string(2'500'000, '/') +
             R"(":"x"}}})",
         kMerge);
}

TEST_F(LargestRequestTest, JsonPatchesAreFast) {
  Expect(201, "POST", kPods, Pod(""));
  const auto patch = [&](int status, const std::string& operations) {
    Expect(status, "PATCH", kPod, "[" + operations + "]", kJsonPatch);
  };
  std::string escapes;
  for (int i = 0; i < 500; ++i) escapes += "~1";
  patch(400, R"({"op":"add","value":"x","path":"/metadata/)" +
                 std::string(3'000'000, '~') + "\"}");
  patch(422, List(2900, R"({{"op":"test","path":"/)" + escapes + "\"}}"));
  const std::string list =
      R"({"op":"add","path":"/x","value":[)" + List(60'000, "0") + "]},";
  patch(413, list + List(9'000, R"({{"op":"add","path":"/x/0","value":1}})"));
  patch(413, list + List(9'000, R"({{"op":"remove","path":"/x/0"}})"));
  patch(413, list + List(4'000, R"({{"op":"move","from":"/x","path":"/y"}},
                                   {{"op":"move","from":"/y","path":"/x"}})"));
  patch(413, list + List(9'000, R"({{"op":"copy","from":"/x","path":"/y"}})"));
  patch(200, list + List(9'000, R"({{"op":"add","path":"/x/-","value":1}})"));
  patch(200, list + List(9'000, R"({{"op":"test","path":"/x/0","value":0}})"));
}

TEST_F(LargestRequestTest, MergePatchesAreFast) {
  Expect(201, "POST", kPods, Pod(""));
  const auto patch = [&](const std::string& annotation) {
    Expect(200, "PATCH", kPod,
           R"({"metadata":{"annotations":{)" + List(90'000, annotation) + "}}}",
           kMerge);
  };
  patch(R"("n{}":"1")");
  patch(R"("n{}":null)");
}

TEST_F(LargestRequestTest, StrategicMergePatchesAreFast) {
  Expect(201, "POST", kPods, Pod(""));
  const auto patch = [&](const std::string& list, const std::string& element) {
    Expect(200, "PATCH", kStatus,
           R"({"status":{")" + list + "\":[" + List(19'000, element) + "]}}",
           kStrategic);
  };
  patch("conditions", R"({{"type":"n{}","status":"True"}})");
  patch("conditions", R"({{"type":"n{}","status":"True"}})");
  patch("$setElementOrder/conditions", R"({{"type":"n{}"}})");
  patch("conditions", R"({{"type":"n{}","$patch":"delete"}})");
}

TEST_F(LargestRequestTest, RepeatedStrategicMergesAreFast) {
  Expect(
      201, "POST", kPods,
      PodWithContainers(R"({"name":"a","image":"i","ports":[)" +
                        List(9'000, R"({{"containerPort":1{:04}}})") + "]}"));
  Expect(413, "PATCH", kPod,
         R"({"spec":{"containers":[)" +
             List(19'000,
                  R"({{"name":"a","ports":[{{"containerPort":10000}}]}})") +
             "]}}",
         kStrategic);
  Expect(200, "PATCH", kPod,
         R"({"metadata":{"labels":{)" + List(60'000, R"("n{}":"1")") + "}}}",
         kMerge);
  Expect(200, "PATCH", kPod,
         R"({"metadata":{"labels":{"$retainKeys":[)" +
             List(90'000, R"("n{}")") + "]}}}",
         kStrategic);
}

TEST_F(LargestRequestTest, DeletesBindingsEvictionsEventsAndLeasesAreFast) {
  Expect(201, "POST", kPods, Pod(""));
  Expect(422, "DELETE", kPod, R"({"dryRun":[)" + List(99'000, "\"x\"") + "]}");
  Expect(201, "POST", std::string(kPod) + "/binding",
         R"({"metadata":{"name":"a","annotations":{)" +
             List(90'000, R"("n{}":"1")") + R"(}},"target":{"name":"n"}})");
  Expect(201, "POST", std::string(kPod) + "/eviction",
         R"({"metadata":{"name":"a"},"deleteOptions":{"dryRun":[)" +
             List(90'000, "\"All\"") + "]}}");
  Expect(201, "POST", "/api/v1/namespaces/default/events",
         R"({"metadata":{"name":"a"},"involvedObject":{"namespace":"default"},
             "message":")" +
             std::string(3'000'000, 'x') + "\"}");
  Expect(400, "POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases",
         R"({"metadata":{"name":"a"},"spec":{"renewTime":
             "2026-01-01T00:00:00.)" +
             std::string(3'000'000, '9') + "Z\"}}");
}

TEST_F(LargestRequestTest, KubeletAdmissionIsFast) {
  Expect(201, "POST", "/api/v1/nodes",
         R"({"metadata":{"name":"n"},"spec":{"taints":[)" +
             List(24'000, R"({{"key":"n{}","effect":"NoExecute"}})") +
             R"(]},"status":{"conditions":[{"type":"Ready",
                 "status":"True"}]}})");
  const auto pod = [&](const std::string& name, const std::string& first) {
    Expect(201, "POST", kPods,
           R"({"metadata":{"name":")" + name +
               R"("},"spec":{"nodeName":"n","tolerations":[)" +
               List(10'000, R"({{"key":"m{}","operator":"Exists"}})") +
               R"(,{"operator":"Exists"}],"containers":[{"name":"c",
                  "image":"i","ports":[)" +
               List(10'000, R"({{"containerPort":1,"hostPort":)" + first +
                                R"({:04}}})") +
               "]}]}}");
  };
  pod("a", "1");
  pod("b", "2");
}

TEST_F(LargestRequestTest, SelectorsAreFast) {
  for (int i = 0; i < 100; ++i) {
    Expect(201, "POST", kPods,
           fmt::format(R"({{"metadata":{{"name":"n{}"}},"spec":{{
                           "containers":[{{"name":"c","image":"i"}}]}}}})",
                       i));
  }
  const std::string expressions =
      List(30'000, R"({{"key":"n{}","operator":"DoesNotExist"}})");
  Expect(201, "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
         R"({"metadata":{"name":"a"},"spec":{"minAvailable":1,"selector":{
             "matchExpressions":[)" +
             expressions + "]}}}");
  Expect(201, "POST", std::string(kPods) + "/n1/eviction",
         R"({"metadata":{"name":"n1"}})");
  const std::string labels = std::string(kPods) + "?labelSelector=";
  const std::string fields = std::string(kPods) + "?fieldSelector=";
  Expect(200, "GET", labels + List(1000, "!n{}"));
  Expect(200, "GET", labels + "a+notin+(" + List(120'000, "n{}") + ")");
  Expect(413, "GET", labels + List(120'000, "!n{}"));
  Expect(200, "GET", fields + List(1000, "metadata.name!=n{}"));
  Expect(413, "GET", fields + List(46'000, "metadata.name!=n{}"));
}

}  // namespace
}  // namespace minisched::apiserver
