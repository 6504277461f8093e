#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lab/apiserver/schema/schema.h"
#include "minisched/api/parse_error.h"

namespace minisched::apiserver {
namespace {

// Returns a body with the prefix and these bytes, given in hexadecimal.
std::string Body(std::string_view hex) {
  std::string body("k8s\0", 4);
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    body += static_cast<char>(
        std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return body;
}

// Returns a body with a Pod. `pod` is the Pod in protobuf, less than 128 bytes.
std::string PodBody(const std::string& pod) {
  return std::string("k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12", 16) +
         static_cast<char>(pod.size()) + pod;
}

// Decodes and normalizes a body.
Json Decode(std::string_view hex) {
  Json object = DecodeProtobuf(Body(hex));
  Normalize(object,
            *Schema::Get().Find(object["kind"] == "DeleteOptions"
                                    ? "v1"
                                    : object["apiVersion"].get<std::string>(),
                                object["kind"].get<std::string>()));
  return object;
}

TEST(ProtobufTest, DecodesBodiesOfClients) {
  const struct {
    const char* title;
    const char* hex;
    const char* json;
  } kCases[] = {
      {"kubectl create namespace demo",
       "0a0f0a02763112094e616d657370616365121c0a140a0464656d6f12001a0022002a00"
       "32003800420012001a020a001a002200",
       R"({"apiVersion": "v1", "kind": "Namespace",
           "metadata": {"name": "demo"}, "spec": {}, "status": {}})"},
      {"kubectl create deployment web --image nginx --replicas 3",
       "0a150a07617070732f7631120a4465706c6f796d656e7412ab010a1f0a037765621200"
       "1a0022002a003200380042005a0a0a036170701203776562127a0803120c0a0a0a0361"
       "707012037765621a600a1c0a0012001a0022002a003200380042005a0a0a0361707012"
       "03776562124012220a056e67696e7812056e67696e782a0042006a0072008001008801"
       "00900100a201001a00320042004a0052005800600068008201008a01009a0100c20100"
       "22020a00280038001a0c0800100018002000280038001a002200",
       R"({"apiVersion": "apps/v1", "kind": "Deployment",
           "metadata": {"name": "web", "labels": {"app": "web"}},
           "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}},
                    "strategy": {},
                    "template": {"metadata": {"labels": {"app": "web"}},
                                 "spec": {"containers": [
                                     {"name": "nginx", "image": "nginx",
                                      "resources": {}}]}}},
           "status": {}})"},
      {"an eviction by kubectl drain --grace-period 30",
       "0a150a09706f6c6963792f763112084576696374696f6e12200a1a0a0377656212001a"
       "0764656661756c7422002a003200380042001202081e1a002200",
       R"({"apiVersion": "policy/v1", "kind": "Eviction",
           "metadata": {"name": "web", "namespace": "default"},
           "deleteOptions": {"gracePeriodSeconds": 30}})"},
      {"the options of a DELETE",
       "0a130a027631120d44656c6574654f7074696f6e731218080012030a0175220a426163"
       "6b67726f756e642a03416c6c1a002200",
       R"({"apiVersion": "v1", "kind": "DeleteOptions",
           "gracePeriodSeconds": 0, "preconditions": {"uid": "u"},
           "propagationPolicy": "Background", "dryRun": ["All"]})"},
      {"a config map: bytes",
       "0a0f0a0276311209436f6e6669674d617012110a030a01731a0a0a016b120568656c6c"
       "6f",
       R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "s"},
           "binaryData": {"k": "aGVsbG8="}})"},
      {"a lease: times",
       "0a1f0a16636f6f7264696e6174696f6e2e6b38732e696f2f763112054c65617365122a"
       "0a190a016c12001a0022002a0032003800420808a0d785d8061000120d220b08a0d785"
       "d8061080e59a771a002200",
       R"({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
           "metadata": {"name": "l",
                        "creationTimestamp": "2026-11-21T10:00:00Z"},
           "spec": {"renewTime": "2026-11-21T10:00:00.250000Z"}})"},
      {"a service: numbers or strings",
       "0a0d0a02763112075365727669636512510a100a0012001a0022002a00320038004200"
       "12390a140a0012001850220a080110001a046874747028000a110a0012001851220708"
       "0010913f1a0028001a0022003a00420052005a00600068001a020a001a002200",
       R"({"apiVersion": "v1", "kind": "Service", "metadata": {},
           "spec": {"ports": [{"port": 80, "targetPort": "http"},
                              {"port": 81, "targetPort": 8081}]},
           "status": {"loadBalancer": {}}})"},
      {"a pod: quantities, a union, lists of numbers",
       "0a090a0276311203506f641287010a100a0012001a0022002a00320038004200125e0a"
       "100a0176120b12090a0012050a0331476912280a016312002a00420f120d0a03637075"
       "12060a043530306d6a007200800100880100900100a201001a00320042004a00520058"
       "00600068007204200120028201008a01009a0100c201001a130a001a0022002a003200"
       "4a005a0072008801001a002200",
       R"({"apiVersion": "v1", "kind": "Pod", "metadata": {},
           "spec": {"containers": [{"name": "c", "resources":
                                        {"requests": {"cpu": "500m"}}}],
                    "volumes": [{"name": "v",
                                 "emptyDir": {"sizeLimit": "1Gi"}}],
                    "securityContext": {"supplementalGroups": [1, 2]}},
           "status": {}})"},
  };
  for (const auto& [title, hex, json] : kCases) {
    EXPECT_EQ(Decode(hex), Json::parse(json)) << title;
  }
}

TEST(ProtobufTest, ReplacesInvalidUtf8) {
  // metadata (1) . name (1)
  const Json pod = DecodeProtobuf(PodBody("\x0a\x03\x0a\x01\xff"));
  EXPECT_EQ(pod["metadata"]["name"], "\xef\xbf\xbd");
}

TEST(ProtobufTest, RefusesMalformedBodies) {
  for (const std::string& body : {
           std::string(), std::string("{}"), std::string("k8s\0", 4),
           std::string("k8s\0\x0a\x7f", 6),   // cut off
           PodBody("\x0a\x05\x0a\x7f"),       // longer than the body
           PodBody("\x08\x01"),               // metadata as a number
           PodBody("\x12\x02\xca\x01"),       // priority, cut off
           PodBody("\x12\x04\xca\x01\x01x"),  // priority as bytes
           // Times out of range: the largest number of seconds, and the first
           // second of the year 10000.
           PodBody("\x0a\x0e\x42\x0c\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
                   "\x10\x01"),
           PodBody("\x0a\x09\x42\x07\x08\x80\x83\xd1\xff\xaf\x07"),
           // A time with 1,000,000,000 nanoseconds, besides one second.
           PodBody("\x0a\x0a\x42\x08\x08\x01\x10\x80\x94\xeb\xdc\x03"),
           PodBody("\x0f"),                     // no such wire type
           Body("0a0b0a027631120544756d6d79"),  // no such kind
       }) {
    EXPECT_THROW(DecodeProtobuf(body), ParseError) << body.size();
  }
}

}  // namespace
}  // namespace minisched::apiserver
