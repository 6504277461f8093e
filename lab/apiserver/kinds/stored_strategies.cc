#include <fmt/format.h>
#include <yaml-cpp/binary.h>

#include <set>
#include <string>

#include "lab/apiserver/kinds/defaults.h"
#include "lab/apiserver/kinds/strategies.h"
#include "lab/apiserver/kinds/validation.h"
#include "lab/apiserver/store.h"
#include "minisched/api/names.h"

// The strategies of kinds that the server only stores, but for which clients
// need a few rules. Follows kubernetes pkg/apis/{apps,batch,core,rbac}.

namespace minisched::apiserver {
namespace {

// Kinds whose objects have a metadata.generation.
class Counted : public Strategy {
 public:
  bool has_generation() const override { return true; }
};

class CronJobs : public Counted {
 public:
  // A CronJob appends eleven characters to the names of its Jobs.
  void Validate(const Json& object, FieldErrors& errors) const override {
    if (NameOf(object).size() <= 52) return;
    errors.Invalid("metadata.name", NameOf(object),
                   "must be no more than 52 characters");
  }
};

// `kubectl rollout status` requires the type of the updateStrategy.
class DaemonSets : public Counted {
 public:
  void SetDefaults(Json& object) const override {
    SetDefault(object["spec"]["updateStrategy"], "type", "RollingUpdate");
  }
};

class StatefulSets : public DaemonSets {
 public:
  void SetDefaults(Json& object) const override {
    DaemonSets::SetDefaults(object);
    SetDefault(object["spec"], "replicas", 1);
  }

  NameRule name_rule() const override { return CheckDns1123Label; }
};

class Endpoints : public Strategy {
 public:
  bool allow_create_on_update() const override { return true; }
};

// Returns an error for a name that would not fit in the path of a URL. RBAC
// allows all other names, such as "system:node".
std::vector<std::string> CheckPathSegment(std::string_view name) {
  if (name == "." || name == "..") {
    return {"may not be '" + std::string(name) + "'"};
  }
  std::vector<std::string> errors;
  for (const char* part : {"/", "%"}) {
    if (name.find(part) == name.npos) continue;
    errors.push_back("may not contain '" + std::string(part) + "'");
  }
  return errors;
}

class RbacObjects : public Strategy {
 public:
  NameRule name_rule() const override { return CheckPathSegment; }
  bool allow_create_on_update() const override { return true; }
};

class Secrets : public Strategy {
 public:
  // Moves stringData, which clients can only write, to data.
  void SetDefaults(Json& object) const override {
    SetDefault(object, "type", "Opaque");
    for (const auto& [key, value] : Get(object, "stringData").items()) {
      const std::string text = GetString(value);
      object["data"][key] = YAML::EncodeBase64(
          reinterpret_cast<const unsigned char*>(text.data()), text.size());
    }
    object.erase("stringData");
  }
};

// A Service has an address, at which nothing listens: clients such as Helm wait
// until it has one.
class Services : public Strategy {
 public:
  void SetDefaults(Json& object) const override {
    Json& spec = object["spec"];
    SetDefault(spec, "type", "ClusterIP");
    if (!spec.contains("ports")) return;
    for (Json& port : spec["ports"]) {
      SetDefault(port, "protocol", "TCP");
      if (port["targetPort"] == 0) port["targetPort"] = port["port"];
    }
  }

  void PrepareForCreate(Json& object, const Store& store) const override {
    Strategy::PrepareForCreate(object, store);
    Json& spec = object["spec"];
    if (spec["type"] == "ExternalName") return;
    if (!spec.contains("clusterIP")) spec["clusterIP"] = FreeAddress(store);
    spec["clusterIPs"] = Json::array({spec["clusterIP"]});
  }

  // An update that omits the address keeps the address.
  void PrepareForUpdate(Json& object, const Json& old,
                        std::string_view subresource) const override {
    Strategy::PrepareForUpdate(object, old, subresource);
    Json& spec = object["spec"];
    if (spec["type"] == "ExternalName") return;
    for (const char* key : {"clusterIP", "clusterIPs"}) {
      SetDefault(spec, key, Get(old, "spec", key));
    }
  }

  NameRule name_rule() const override { return CheckDns1123Label; }

 private:
  static std::string FreeAddress(const Store& store) {
    std::set<std::string> used;
    for (const auto& [key, service] : store.All("services")) {
      used.insert(GetString(*service, "spec", "clusterIP"));
    }
    std::string address;
    for (int n = 1; address.empty() || used.contains(address); ++n) {
      address =
          fmt::format("10.{}.{}.{}", 96 + (n >> 16), n >> 8 & 255, n & 255);
    }
    return address;
  }
};

}  // namespace

const Strategy& CountedStrategy() { return Only<Counted>(); }
const Strategy& CronJobStrategy() { return Only<CronJobs>(); }
const Strategy& DaemonSetStrategy() { return Only<DaemonSets>(); }
const Strategy& EndpointsStrategy() { return Only<Endpoints>(); }
const Strategy& RbacStrategy() { return Only<RbacObjects>(); }
const Strategy& SecretStrategy() { return Only<Secrets>(); }
const Strategy& ServiceStrategy() { return Only<Services>(); }
const Strategy& StatefulSetStrategy() { return Only<StatefulSets>(); }

}  // namespace minisched::apiserver
