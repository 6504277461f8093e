#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "lab/apiserver/controllers/fake_loop_testing.h"
#include "lab/apiserver/errors.h"
#include "lab/apiserver/registry.h"

namespace minisched::apiserver {

using nlohmann::literals::json_literals::operator""_json;

// Base class for tests of the API's rules for objects. Namespaced objects are
// in the namespace "t".
class StrategyTest : public testing::Test {
 protected:
  StrategyTest() { Create("v1", "Namespace", {{"metadata", {{"name", "t"}}}}); }

  // Returns `object` with a merge patch applied.
  static Json With(Json object, const Json& patch) {
    object.merge_patch(patch);
    return object;
  }

  Json Create(const std::string& api_version, const std::string& kind,
              const Json& object) {
    const ResourceRow& row = *FindKind(api_version, kind);
    return *registry_.Create(row, row.namespaced ? "t" : "", object);
  }

  // Applies a merge patch to the stored state of an object, and returns the new
  // state.
  Json Update(const Json& object, const Json& patch,
              const std::string& subresource = "") {
    const ResourceRow& row =
        *FindKind(GetString(object, "apiVersion"), GetString(object, "kind"));
    return *registry_.Update(row, subresource, NamespaceOf(object),
                             NameOf(object),
                             [&](const Json& old) { return With(old, patch); });
  }

  // Returns the errors of the action: "FIELD: MESSAGE" for each invalid field
  // (422), "CODE MESSAGE" for another error. Returns an empty list if the
  // action succeeds.
  static std::vector<std::string> Errors(const std::function<void()>& action) {
    try {
      action();
      return {};
    } catch (const StatusError& error) {
      if (error.code() != 422) {
        return {std::to_string(error.code()) + " " + error.what()};
      }
      std::vector<std::string> errors;
      const Json status = error.ToJson();
      for (const Json& cause : status["details"]["causes"]) {
        errors.push_back(GetString(cause, "field") + ": " +
                         GetString(cause, "message"));
      }
      return errors;
    }
  }

  std::vector<std::string> CreateErrors(const std::string& api_version,
                                        const std::string& kind,
                                        const Json& object) {
    return Errors([&] { Create(api_version, kind, object); });
  }
  std::vector<std::string> UpdateErrors(const Json& object, const Json& patch,
                                        const std::string& subresource = "") {
    return Errors([&] { Update(object, patch, subresource); });
  }

  // Returns the stored state of an object.
  Json Stored(const Json& object) {
    return *registry_.Get(
        *FindKind(GetString(object, "apiVersion"), GetString(object, "kind")),
        NamespaceOf(object), NameOf(object));
  }

  Store store_;
  FakeLoop loop_;
  Registry registry_{store_, loop_};
};

}  // namespace minisched::apiserver
