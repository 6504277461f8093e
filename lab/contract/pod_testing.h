#pragma once

#include <string>
#include <vector>

#include "lab/contract/contract_testing.h"

namespace minisched {

// A fixture for tests that create pods, mostly as dry runs.
class PodContractTest : public ContractTest {
 protected:
  // An invalid pod spec or container, and the errors that the server returns.
  struct Mistake {
    std::string spec;
    std::vector<std::string> errors;
  };

  // Creates a pod "p" with this spec as a dry run.
  Reply Try(const json& spec) {
    return Post("pods?dryRun=All", Pod("p", {{"spec", spec}}));
  }

  // Creates a pod "p" with this container as a dry run.
  Reply TryContainer(const json& container) {
    json whole = R"({"name": "c", "image": "i"})"_json;
    whole.merge_patch(container);
    return Try({{"containers", {whole}}});
  }

  // Expects the server to reject a pod with each of these specs.
  void ExpectRefused(const std::vector<Mistake>& mistakes) {
    for (const auto& [spec, errors] : mistakes) {
      EXPECT_THAT(Try(json::parse(spec)), Invalid("Pod", "p", errors)) << spec;
    }
  }

  // Expects the server to reject a pod with each of these containers. Errors
  // are relative to spec.containers[0].
  void ExpectContainersRefused(const std::vector<Mistake>& mistakes) {
    for (auto [container, errors] : mistakes) {
      for (std::string& error : errors) {
        error.insert(0, "spec.containers[0].");
      }
      EXPECT_THAT(TryContainer(json::parse(container)),
                  Invalid("Pod", "p", errors))
          << container;
    }
  }
};

}  // namespace minisched
