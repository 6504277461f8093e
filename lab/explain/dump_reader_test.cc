#include "lab/explain/dump_reader.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "lab/explain/errors.h"
#include "lab/scenario/files_testing.h"
#include "minisched/client/errors.h"

namespace minisched::explain {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kPodDocument[] =
    R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}})";
constexpr char kNodeDocument[] =
    R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})";

std::string ListOf(const std::string& items) {
  return R"({"apiVersion": "v1", "items": [)" + items + R"(], "kind": "List"})";
}

Objects Read(const std::string& text) {
  Objects objects;
  ReadDumpText(text, "dump", objects);
  return objects;
}

// Returns the numbers of nodes and pods.
std::pair<std::size_t, std::size_t> CountsOf(const std::string& text) {
  const Objects objects = Read(text);
  return {objects.Count("Node"), objects.Count("Pod")};
}

std::string ErrorOf(const std::string& text) {
  try {
    Read(text);
  } catch (const CannotTell& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  return "no error";
}

const std::pair<std::size_t, std::size_t> kOneOfEach{1, 1};

TEST(DumpReaderTest, ReadsListsAndDocuments) {
  const std::string pod = kPodDocument;
  const std::string node = kNodeDocument;
  EXPECT_EQ(CountsOf(ListOf(pod + "," + node)), kOneOfEach);
  EXPECT_EQ(CountsOf(pod + "\n" + node), kOneOfEach);
  EXPECT_EQ(CountsOf(ListOf(pod) + ListOf(node)), kOneOfEach);
  EXPECT_EQ(CountsOf("---\n" + pod + "\n---\n" + node + "\n---\n"), kOneOfEach);
  EXPECT_EQ(
      CountsOf("apiVersion: v1\nkind: List\nitems:\n- " + pod + "\n- " + node),
      kOneOfEach);
  // A map of YAML may look like JSON at first.
  EXPECT_EQ(CountsOf("{apiVersion: v1, kind: List, items: [" + pod + "," +
                     node + "]}"),
            kOneOfEach);
}

TEST(DumpReaderTest, ItemsOfTypedListsNeedNoKind) {
  const std::string items = R"("items": [{"metadata": {"name": "a"}}])";
  EXPECT_EQ(CountsOf(R"({"kind": "PodList", "apiVersion": "v1", )" + items +
                     R"(} {"apiVersion": "v1", )" + items +
                     R"(, "kind": "NodeList"})"),
            kOneOfEach);
}

TEST(DumpReaderTest, ReadsAnExportOfTheSimulator) {
  EXPECT_EQ(CountsOf(R"({"nodes": [{"metadata": {"name": "n"}}],
                         "pods": [{"metadata": {"name": "a"}}], "pvs": [],
                         "schedulerConfig": {"profiles": []}})"),
            kOneOfEach);
}

TEST(DumpReaderTest, ReadsTheLastMomentOfARecording) {
  const auto line = [](const std::string& event, const std::string& object) {
    return R"({"time": "2026-01-01T00:00:00Z", "event": ")" + event +
           R"(", "resource": )" + object + "}\n";
  };
  const std::string bound = R"({"apiVersion": "v1", "kind": "Pod", "metadata":
      {"name": "web"}, "spec": {"nodeName": "n"}})";
  const std::string gone = R"({"apiVersion": "v1", "kind": "Pod", "metadata":
      {"name": "gone"}})";
  const Objects objects = Read(
      line("Add", kNodeDocument) + line("Add", kPodDocument) +
      line("Add", gone) +
      R"({"v": 2, "sequence": 1, "time": "2026-01-01T00:00:00Z", "pod": {}})" +
      "\n" + line("Update", bound) + line("Delete", gone) +
      R"({"time": "2026-01-01T00:00:00Z", "event": "Add", "resou)");
  EXPECT_EQ(objects.Count("Pod"), 1);
  EXPECT_EQ(objects.pods().at({"default", "web"}).node, "n");
}

TEST(DumpReaderTest, ReadsAFolder) {
  const scenario::TestDirectory directory;
  std::filesystem::create_directory(directory.path() / "ns");
  directory.Write("nodes.json", kNodeDocument);
  directory.Write("ns/pods.yaml", kPodDocument);
  directory.Write("ns/logs.txt", "{ no JSON");
  Objects objects;
  ReadDump(directory.path(), objects, {});
  EXPECT_EQ(objects.Count("Pod"), 1);
  EXPECT_EQ(objects.Count("Node"), 1);
}

TEST(DumpReaderTest, AFolderNeedsFiles) {
  const scenario::TestDirectory directory;
  Objects objects;
  EXPECT_THROW(ReadDump(directory.path(), objects, {}), CannotTell);
  EXPECT_THROW(ReadDump(directory.path() / "none", objects, {}), ConfigError);
}

TEST(DumpReaderTest, ErrorsNameThePlace) {
  EXPECT_EQ(ErrorOf(" \n"), "dump: it is empty: save the dump again");
  EXPECT_EQ(ErrorOf(std::string(kPodDocument) +
                    "\n  {\"kind\": \"List\", \"items\": ["),
            "dump:2:3: the object that begins here is cut off: save the dump "
            "again");
  EXPECT_THAT(ErrorOf("{\"kind\": \"Pod\",\n \"a\": 1 2}"),
              StartsWith("dump:2:9: malformed JSON: "));
  EXPECT_THAT(ErrorOf(std::string(kPodDocument) + "]"), StartsWith("dump:1:"));
  EXPECT_THAT(ErrorOf("a: [b\n"), StartsWith("dump: "));
  EXPECT_THAT(ErrorOf("{"), StartsWith("dump: "));
  EXPECT_EQ(ErrorOf("{\"a\": 1}"),
            "dump: this is no Kubernetes object: it has no kind");
  EXPECT_EQ(ErrorOf("- 1\n"), "dump: expected an object, found something else");
  EXPECT_EQ(ErrorOf(ListOf("3")), "dump: an item of the list is no object");
  EXPECT_EQ(ErrorOf(ListOf(R"({"apiVersion": "v1", "kind": "Pod"})")),
            "dump: a Pod has no metadata.name");
}

TEST(DumpReaderTest, AnObjectMayBeThereOnce) {
  EXPECT_EQ(ErrorOf(ListOf(std::string(kPodDocument) + "," + kPodDocument)),
            "dump: Pod default/web is there twice, first in dump: leave one of "
            "them out");
}

TEST(DumpReaderTest, CountsKindsThatAreNotKubernetesOwn) {
  const Objects objects = Read(ListOf(
      R"({"apiVersion": "x.io/v1", "kind": "Pool", "metadata": {"name": "a"}},
         {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}},
         {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}})"));
  EXPECT_THAT(objects.unknown_kinds(),
              ::testing::ElementsAre(::testing::Pair("x.io/v1 Pool", 1)));
  EXPECT_EQ(objects.Count("Secret"), 0);
}

TEST(DumpReaderTest, RefusesDeepObjects) {
  const std::string deep(100'000, '[');
  EXPECT_THAT(ErrorOf(R"({"apiVersion": "v1", "kind": "Node", "metadata":
                          {"name": "n", "labels": )" +
                      deep + std::string(100'000, ']') + "}}"),
              StartsWith("dump: Node n: "));
}

TEST(DumpReaderTest, APageReplacesObjects) {
  Objects objects;
  const std::string page = R"({"kind": "PodList", "apiVersion": "v1",
      "metadata": {"continue": "next"}, "items": [{"metadata": {"name": "a"}}]})";
  EXPECT_EQ(ReadPage(page, "server", objects), "next");
  EXPECT_EQ(ReadPage(page, "server", objects), "next");
  EXPECT_EQ(objects.Count("Pod"), 1);
  EXPECT_THROW(ReadPage("<html>", "server", objects), CannotTell);
}

}  // namespace
}  // namespace minisched::explain
