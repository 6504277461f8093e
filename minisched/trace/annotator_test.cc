#include "minisched/trace/annotator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "minisched/trace/trace_testing.h"
#include "testing/log_capture.h"
#include "testing/scripted_api.h"

namespace minisched {

// What tests see of an Annotator.
struct AnnotatorPeer {
  static std::size_t Pods(Annotator& annotator) {
    MutexLock lock(annotator.mu_);
    return annotator.pods_.size();
  }
  static std::size_t UnderWay(Annotator& annotator) {
    MutexLock lock(annotator.mu_);
    return annotator.jobs_;
  }
};

namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

// The results are told apart by their selected node.
class AnnotatorTest : public ::testing::Test {
 protected:
  // Reports an attempt that has failed on a node.
  void Fail(const std::string& pod, const std::string& node) {
    trace_.Tried([&] {
      return Attempt{.pod = "shop/" + pod,
                     .uid = pod,
                     .number = ++attempts_,
                     .filters = {"NodeName"},
                     .node = node,
                     .failure = "conflict"};
    });
  }

  // Lets the annotator read the trace.
  void Tick() {
    clock_.AwaitDeadline(clock_.Now() + milliseconds(20));
    clock_.Advance(milliseconds(20));
    clock_.AwaitDeadline(clock_.Now() + milliseconds(20));
  }

  void FailAndTick(const std::string& pod, const std::string& node) {
    Fail(pod, node);
    Tick();
  }

  // Answers the next request. Returns its method and the name of the pod.
  std::string Answer(int status, const std::string& body) {
    auto [request, reply] = api_.Take();
    reply.Send(status, body);
    last_ = request;
    return request.method + " " +
           request.target.substr(request.target.rfind('/') + 1);
  }
  std::string AnswerWithPod(
      const std::string& uid,
      const nlohmann::json& annotations = nlohmann::json::object()) {
    const nlohmann::json pod = {
        {"metadata", {{"uid", uid}, {"annotations", annotations}}}};
    return Answer(200, pod.dump());
  }
  std::string Refuse(int status) {
    const nlohmann::json body = {
        {"kind", "Status"}, {"code", status}, {"message", "no"}};
    return Answer(status, body.dump());
  }

  // The annotations of the last request, which is a PATCH.
  nlohmann::json Annotations() const {
    return nlohmann::json::parse(last_.body).at("metadata").at("annotations");
  }
  std::string SelectedNode() const {
    return Annotations().at(kAnnotationPrefix + "selected-node");
  }

  // Expects that the annotator gets the pod next and annotates it.
  void ExpectAnnotates(const std::string& pod, const std::string& node) {
    EXPECT_EQ(AnswerWithPod(pod), "GET " + pod);
    EXPECT_EQ(AnswerWithPod(pod), "PATCH " + pod);
    EXPECT_EQ(SelectedNode(), node);
  }

  // Blocks until the annotator has read all responses.
  void AwaitRest() {
    while (AnnotatorPeer::UnderWay(*annotator_) > 0) std::this_thread::yield();
  }

  std::future<void> Destroy() {
    return std::async(std::launch::async, [this] { annotator_.reset(); });
  }

  // Destroys the annotator while requests have no response.
  void DestroyWithoutAnswer() {
    std::future<void> destroyed = Destroy();
    clock_.AwaitDeadline(clock_.Now() + seconds(5));
    clock_.Advance(seconds(5));
    destroyed.get();
  }

  ScriptedApi api_;
  FakeClock clock_;
  Trace trace_{"minisched", clock_};
  ServerRequest last_;
  int attempts_ = 0;
  std::optional<Annotator> annotator_{std::in_place, trace_, api_.config(),
                                      clock_};
};

TEST_F(AnnotatorTest, PatchesAPodThatCouldNotBeScheduled) {
  FailAndTick("web", "n");
  EXPECT_EQ(AnswerWithPod("web"), "GET web");
  EXPECT_EQ(AnswerWithPod("web"), "PATCH web");
  EXPECT_EQ(last_.target, "/api/v1/namespaces/shop/pods/web");
  EXPECT_EQ(last_.headers.at("content-type"), "application/merge-patch+json");
  EXPECT_EQ(nlohmann::json::parse(last_.body)["metadata"]["uid"], "web");
  EXPECT_EQ(SelectedNode(), "n");
  EXPECT_EQ(Annotations().size(), 14U);
}

TEST_F(AnnotatorTest, WaitsForTheLastReportOfABoundPod) {
  Attempt attempt{.pod = "shop/web",
                  .uid = "web",
                  .number = 1,
                  .filters = {"NodeName"},
                  .fits = {"n"},
                  .node = "n"};
  trace_.Tried([&] { return attempt; });
  trace_.Moved(TracedPod("web"), Place::kAssumed);
  FailAndTick("other", "");
  ExpectAnnotates("other", "");
  trace_.Tried([] {
    return Attempt{.uid = "web",
                   .number = 1,
                   .points = {{"Bind", "DefaultBinder", "Success", ""}},
                   .node = "n"};
  });
  trace_.Moved(TracedPod("web"), Place::kBound);
  Tick();
  ExpectAnnotates("web", "n");
  EXPECT_EQ(Annotations()[kAnnotationPrefix + "filter-result"],
            R"({"n":{"NodeName":"passed"}})");
  EXPECT_EQ(Annotations()[kAnnotationPrefix + "bind-result"],
            R"({"DefaultBinder":"success"})");
}

TEST_F(AnnotatorTest, OneReportOfABoundPodIsEnough) {
  trace_.Tried([] {
    return Attempt{.pod = "shop/web", .uid = "web", .number = 1, .node = "n"};
  });
  trace_.Moved(TracedPod("web"), Place::kBound);
  Tick();
  ExpectAnnotates("web", "n");
}

TEST_F(AnnotatorTest, DoesNotWriteResultsAgain) {
  FailAndTick("web", "n");
  ExpectAnnotates("web", "n");
  FailAndTick("web", "n");
  FailAndTick("other", "n");
  ExpectAnnotates("other", "n");
  FailAndTick("web", "m");
  ExpectAnnotates("web", "m");
  FailAndTick("web", "n");
  ExpectAnnotates("web", "n");
}

TEST_F(AnnotatorTest, DoesNotWriteResultsThatThePodHas) {
  FailAndTick("web", "n");
  AnswerWithPod("web");
  AnswerWithPod("web");
  const nlohmann::json annotations = Annotations();
  annotator_.emplace(trace_, api_.config(), clock_);
  FailAndTick("web", "n");
  EXPECT_EQ(AnswerWithPod("web", annotations), "GET web");
  FailAndTick("other", "n");
  ExpectAnnotates("other", "n");
}

TEST_F(AnnotatorTest, GoesOnAfterARefusal) {
  for (const int status : {400, 403, 404, 409, 422, 429, 500, 503}) {
    SCOPED_TRACE(status);
    FailAndTick("web", std::to_string(status));
    EXPECT_EQ(AnswerWithPod("web"), "GET web");
    EXPECT_EQ(Refuse(status), "PATCH web");
    FailAndTick("other", std::to_string(status));
    ExpectAnnotates("other", std::to_string(status));
  }
}

TEST_F(AnnotatorTest, WritesRefusedResultsWhenTheyRepeat) {
  FailAndTick("web", "n");
  EXPECT_EQ(Refuse(403), "GET web");
  AwaitRest();
  FailAndTick("web", "n");
  ExpectAnnotates("web", "n");
}

TEST_F(AnnotatorTest, SkipsAPodThatIsGone) {
  FailAndTick("web", "n");
  EXPECT_EQ(Refuse(404), "GET web");
  FailAndTick("api", "n");
  EXPECT_EQ(AnswerWithPod("a namesake of api"), "GET api");
  FailAndTick("other", "n");
  ExpectAnnotates("other", "n");
}

TEST_F(AnnotatorTest, WarnsOnceAMinute) {
  const LogCapture log;
  for (const char* pod : {"a", "b", "c"}) {
    FailAndTick(pod, "n");
    Refuse(403);
    AwaitRest();
  }
  FailAndTick("gone", "n");
  Refuse(404);
  AwaitRest();
  FailAndTick("d", "n");
  Refuse(500);
  AwaitRest();
  clock_.Advance(minutes(1));
  FailAndTick("e", "n");
  Refuse(403);
  Destroy().get();
  EXPECT_EQ(log.text(),
            "failed to annotate pod shop/a with its results: no\n"
            "failed to annotate pod shop/d with its results: no\n"
            "failed to annotate pod shop/e with its results: no\n");
}

TEST_F(AnnotatorTest, WarnsOfResultsThatAreTooLarge) {
  const LogCapture log;
  FailAndTick("web", "n");
  AnswerWithPod("web", {{"team", std::string(256 << 10, 'x')}});
  Destroy().get();
  EXPECT_THAT(log.text(), HasSubstr("shop/web with its results: left out "));
  EXPECT_EQ(api_.Requests(), 1U);
}

TEST_F(AnnotatorTest, WritesOnlyTheLastResultsThatWait) {
  FailAndTick("web", "a");
  const auto get = api_.Take();
  FailAndTick("web", "b");
  FailAndTick("web", "c");
  ServerReply(get.reply).Send(200, R"({"metadata":{"uid":"web"}})");
  EXPECT_EQ(AnswerWithPod("web"), "PATCH web");
  EXPECT_EQ(SelectedNode(), "a");
  ExpectAnnotates("web", "c");
}

TEST_F(AnnotatorTest, AnnotatesTenPodsAtATime) {
  for (int i = 0; i < 11; ++i) Fail("pod-" + std::to_string(i), "n");
  Tick();
  std::vector<ScriptedApi::Exchange> gets;
  gets.reserve(10);
  for (int i = 0; i < 10; ++i) gets.push_back(api_.Take());
  for (int i = 0; i < 10; ++i) Tick();
  EXPECT_EQ(api_.Requests(), 10U);
  for (ScriptedApi::Exchange& get : gets) get.reply.Send(404, "{}");
  EXPECT_EQ(Refuse(404), "GET pod-10");
}

TEST_F(AnnotatorTest, DropsTheOldestResultsBeyond64MiB) {
  const LogCapture log;
  // Ten are under way, 70 wait.
  for (int i = 0; i < 80; ++i) {
    trace_.Tried([&] {
      const std::string pod = "pod-" + std::to_string(i);
      return Attempt{
          .pod = "shop/" + pod,
          .uid = pod,
          .filters = {"NodeName"},
          .points = {{"Bind", "Binder", "Error", std::string(1 << 20, 'x')}},
          .node = "n",
          .failure = "conflict"};
    });
    Tick();
  }
  DestroyWithoutAnswer();
  EXPECT_THAT(log.text(), HasSubstr("is too slow: dropped 1 results\n"));
  EXPECT_THAT(log.text(), HasSubstr("no time left to annotate 73 pods"));
}

TEST_F(AnnotatorTest, ForgetsPodsThatAreBoundOrGone) {
  FailAndTick("web", "n");
  ExpectAnnotates("web", "n");
  trace_.Moved(TracedPod("web"), Place::kGone);
  trace_.Moved(TracedPod("never tried"), Place::kBound);
  Fail("api", "n");
  trace_.Moved(TracedPod("api"), Place::kGone);
  Tick();
  EXPECT_EQ(Refuse(404), "GET api");
  while (AnnotatorPeer::Pods(*annotator_) > 0) std::this_thread::yield();
}

TEST_F(AnnotatorTest, SkipsANameThatIsImpossible) {
  const LogCapture log;
  FailAndTick("..", "n");
  FailAndTick("other", "n");
  ExpectAnnotates("other", "n");
  Destroy().get();
  EXPECT_THAT(log.text(), HasSubstr("failed to annotate pod shop/.. "));
}

TEST_F(AnnotatorTest, TheDestructorWritesTheRemainingResults) {
  for (int i = 0; i < 12; ++i) Fail("pod-" + std::to_string(i), "n");
  std::future<void> destroyed = Destroy();
  for (int i = 0; i < 12; ++i) {
    auto [request, reply] = api_.Take();
    reply.Send(404, "{}");
  }
  destroyed.get();
}

TEST_F(AnnotatorTest, TheDestructorGivesUpAfterFiveSeconds) {
  const LogCapture log;
  for (int i = 0; i < 12; ++i) Fail("pod-" + std::to_string(i), "n");
  DestroyWithoutAnswer();
  EXPECT_EQ(log.text(),
            "no time left to annotate 12 pods with their results\n");
}

}  // namespace
}  // namespace minisched
