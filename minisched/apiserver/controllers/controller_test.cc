#include "minisched/apiserver/controllers/controller.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "minisched/apiserver/controllers/cluster_testing.h"

namespace minisched::apiserver {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const ResourceRow& ConfigMaps() { return GetResource("", "configmaps"); }
ObjectKey KeyTo(const std::string& name) {
  return {&ConfigMaps(), "default", name};
}

// Notes what it is called for, and fails as it is told.
class Recorder : public Controller {
 public:
  explicit Recorder(Registry& registry) : Controller(registry) {
    Watch("configmaps", [this](const Event& e) {
      if (NamespaceOf(*e.object) == "default") Enqueue(*e.object);
    });
  }
  void Sync(const ObjectKey& key) override {
    synced.push_back(key.name);
    if (fails) throw std::runtime_error("no");
  }
  using Controller::Enqueue;
  using Controller::EnqueueSoon;
  using Controller::Every;

  std::vector<std::string> synced;
  bool fails = false;
};

class ControllerTest : public ::testing::Test {
 protected:
  ControllerTest() {
    cluster_.loop.Run();
    controller_.synced.clear();
  }

  TestCluster cluster_;
  Recorder controller_{cluster_.registry};
};

TEST_F(ControllerTest, LooksOnceAtWhatChangedSeveralTimes) {
  cluster_.Create("configmaps", R"({"metadata": {"name": "b"}})");
  cluster_.Create("configmaps", R"({"metadata": {"name": "a"}})");
  cluster_.Patch("configmaps", "b", {{"data", {{"x", "1"}}}});
  EXPECT_THAT(controller_.synced, IsEmpty());
  cluster_.loop.Run();
  EXPECT_THAT(controller_.synced, ElementsAre("b", "a"));
}

TEST_F(ControllerTest, BeginsWithWhatIsThere) {
  cluster_.Create("configmaps", R"({"metadata": {"name": "a"}})");
  Recorder late(cluster_.registry);
  cluster_.loop.Run();
  EXPECT_THAT(late.synced, ElementsAre("a", "kube-root-ca.crt"));
}

TEST_F(ControllerTest, TriesAgainASecondLater) {
  controller_.fails = true;
  controller_.Enqueue(KeyTo("a"));
  cluster_.loop.Advance(milliseconds(999));
  EXPECT_THAT(controller_.synced, SizeIs(1));
  cluster_.loop.Advance(milliseconds(1));
  EXPECT_THAT(controller_.synced, SizeIs(2));

  controller_.fails = false;
  cluster_.loop.Advance(std::chrono::hours(1));
  EXPECT_THAT(controller_.synced, SizeIs(3));
}

TEST_F(ControllerTest, LetsChangesComeTogether) {
  for (int i = 0; i < 5; ++i) {
    controller_.EnqueueSoon(KeyTo("a"));
    cluster_.loop.Advance(milliseconds(9));
  }
  EXPECT_THAT(controller_.synced, IsEmpty());
  cluster_.loop.Advance(milliseconds(500));
  EXPECT_THAT(controller_.synced, ElementsAre("a"));
}

TEST_F(ControllerTest, ComesBackPeriodically) {
  int times = 0;
  controller_.Every(milliseconds(100), [&] { ++times; });
  cluster_.loop.Advance(milliseconds(350));
  EXPECT_EQ(times, 3);
}

TEST(IndexTest, FindsWhatIsThereNow) {
  TestCluster cluster;
  cluster.Create("configmaps",
                 R"({"metadata": {"name": "a", "labels": {"k": "1"}}})");
  const Index index(cluster.store, "configmaps", [](const Json& object) {
    return std::vector{GetString(object, "metadata", "labels", "k")};
  });
  const auto names = [&](const std::string& value) {
    std::vector<std::string> found;
    for (const auto& [uid, object] : index[value]) {
      found.push_back(NameOf(*object));
    }
    return found;
  };
  EXPECT_THAT(names("1"), ElementsAre("a"));
  cluster.Patch("configmaps", "a", {{"metadata", {{"labels", {{"k", "2"}}}}}});
  EXPECT_THAT(names("1"), IsEmpty());
  EXPECT_THAT(names("2"), ElementsAre("a"));
  cluster.Delete("configmaps", "a");
  EXPECT_THAT(names("2"), IsEmpty());
}

}  // namespace
}  // namespace minisched::apiserver
