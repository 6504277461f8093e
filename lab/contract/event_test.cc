// Events: one kind in two groups, with different names for the same fields.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::ElementsAre;

class EventTest : public ContractTest {
 protected:
  // Returns the path of events, or of one event, in events.k8s.io.
  std::string NewPath(const std::string& name = "") {
    return "/apis/events.k8s.io/v1/namespaces/" + namespace_name() + "/events" +
           (name.empty() ? "" : "/" + name);
  }

  json Subject() {
    return {{"kind", "Pod"}, {"name", "p"}, {"namespace", namespace_name()}};
  }

  // Return events as client-go's old and new recorders write them.
  json OldEvent(const std::string& name) {
    json event = Named(name, R"({
      "reason": "R", "message": "m", "type": "Normal",
      "source": {"component": "c", "host": "h"}, "count": 2,
      "firstTimestamp": "2020-01-01T00:00:00Z",
      "lastTimestamp": "2020-01-01T00:00:01Z"})"_json);
    event["involvedObject"] = Subject();
    return event;
  }
  json NewEvent(const std::string& name) {
    json event = Named(name, R"({
      "eventTime": "2020-01-01T00:00:00.000001Z",
      "reportingController": "x.y/s", "reportingInstance": "s-1",
      "action": "Binding", "reason": "Scheduled", "note": "n",
      "related": {"kind": "Node", "name": "n"}, "type": "Normal"})"_json);
    event["regarding"] = Subject();
    return event;
  }
};

TEST_F(EventTest, ConvertsACoreEventToTheNewGroup) {
  EXPECT_THAT(Post("events", OldEvent("e")), Answers(201, R"({
                "kind": "Event", "apiVersion": "v1",
                "involvedObject": {"kind": "Pod", "name": "p"},
                "reason": "R", "message": "m", "type": "Normal",
                "source": {"component": "c", "host": "h"}, "count": 2,
                "firstTimestamp": "2020-01-01T00:00:00Z",
                "lastTimestamp": "2020-01-01T00:00:01Z",
                "reportingComponent": "", "reportingInstance": ""})"_json));
  EXPECT_THAT(Get(NewPath("e")), Answers(200, R"({
    "kind": "Event", "apiVersion": "events.k8s.io/v1",
    "regarding": {"kind": "Pod", "name": "p"},
    "reason": "R", "note": "m", "type": "Normal",
    "deprecatedSource": {"component": "c", "host": "h"},
    "deprecatedCount": 2,
    "deprecatedFirstTimestamp": "2020-01-01T00:00:00Z",
    "deprecatedLastTimestamp": "2020-01-01T00:00:01Z",
    "involvedObject": null, "message": null, "source": null,
    "reportingController": null})"_json));
}

TEST_F(EventTest, ConvertsANewEventToTheCoreGroup) {
  EXPECT_THAT(Post(NewPath(), NewEvent("e")), Answers(201, NewEvent("e")));
  EXPECT_THAT(Get("events/e"), Answers(200, R"({
    "kind": "Event", "apiVersion": "v1",
    "involvedObject": {"kind": "Pod", "name": "p"},
    "reason": "Scheduled", "message": "n", "type": "Normal",
    "eventTime": "2020-01-01T00:00:00.000001Z", "action": "Binding",
    "related": {"kind": "Node", "name": "n"},
    "reportingComponent": "x.y/s", "reportingInstance": "s-1",
    "source": {}, "firstTimestamp": null, "lastTimestamp": null,
    "regarding": null, "note": null, "reportingController": null})"_json));
}

TEST_F(EventTest, BothGroupsShareTheirObjects) {
  Create("events", OldEvent("a"));
  Create(NewPath(), NewEvent("b"));
  EXPECT_THAT(Post(NewPath(), NewEvent("a")), Answers(409));
  EXPECT_THAT(Names(Read("events")), ElementsAre("a", "b"));
  const json list = Read(NewPath());
  EXPECT_THAT(Names(list), ElementsAre("a", "b"));
  EXPECT_THAT(list, JsonHas({{"kind", "EventList"},
                             {"apiVersion", "events.k8s.io/v1"}}));
  EXPECT_THAT(Names(Read(NewPath() + "?fieldSelector=regarding.name=p")),
              ElementsAre("a", "b"));
  EXPECT_THAT(
      Names(Read("events?fieldSelector=involvedObject.name=p,reason=R")),
      ElementsAre("a"));
  EXPECT_THAT(Delete(NewPath("a")), Answers(200));
  EXPECT_THAT(Get("events/a"), Answers(404));
}

TEST_F(EventTest, WatchesOfBothGroupsDeliverAnEvent) {
  const std::string version = Version(Read("events"));
  WatchReader old_watch = Watch("events?resourceVersion=" + version);
  WatchReader new_watch = Watch(NewPath() + "?resourceVersion=" + version);
  Create("events", OldEvent("e"));
  EXPECT_THAT(old_watch.Next().value(), JsonHas(R"({"type": "ADDED", "object": {
                "apiVersion": "v1", "message": "m"}})"_json));
  EXPECT_THAT(new_watch.Next().value(), JsonHas(R"({"type": "ADDED", "object": {
                "apiVersion": "events.k8s.io/v1", "note": "m"}})"_json));
}

// Event recorders count repetitions with patches.
TEST_F(EventTest, PatchesCountRepetitions) {
  Create("events", OldEvent("a"));
  EXPECT_THAT(StrategicPatch("events/a", R"({"count": 3,
                "lastTimestamp": "2020-01-01T00:00:09Z"})"_json),
              Answers(200, R"({"count": 3, "message": "m"})"_json));
  Create(NewPath(), NewEvent("b"));
  EXPECT_THAT(StrategicPatch(NewPath("b"), R"({"series": {"count": 2,
                "lastObservedTime": "2020-01-01T00:00:01.000000Z"}})"_json),
              Answers(200, R"({"series": {"count": 2,
                "lastObservedTime": "2020-01-01T00:00:01.000000Z"}})"_json));
  EXPECT_THAT(Get("events/b"),
              Answers(200, R"({"series": {"count": 2}})"_json));
}

TEST_F(EventTest, NamespaceMustMatchTheSubject) {
  json event = OldEvent("e");
  event["involvedObject"]["namespace"] = "other";
  EXPECT_THAT(Post("events", event),
              Invalid("Event", "e",
                      {"involvedObject.namespace: Invalid value: \"other\": "
                       "does not match event.namespace"}));
  // Events of cluster-scoped objects belong to the namespace "default".
  event["involvedObject"] = {{"kind", "Node"}, {"name", "n"}};
  EXPECT_THAT(Post("events", event),
              Invalid("Event", "e",
                      {"involvedObject.namespace: Invalid value: \"\": does "
                       "not match event.namespace"}));
  EXPECT_THAT(Post("/api/v1/namespaces/default/events?dryRun=All", event),
              Answers(201));
}

TEST_F(EventTest, CoreEventsNeedFewFields) {
  EXPECT_THAT(Post("events",
                   Named("e", {{"involvedObject", Subject()}, {"type", "X"}})),
              Answers(201));
}

}  // namespace
}  // namespace minisched
