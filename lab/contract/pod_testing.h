#pragma once

#include <string>
#include <vector>

#include "lab/contract/contract_testing.h"

namespace minisched {

// A test of pods that are created, and perhaps only for show.
class PodContractTest : public ContractTest {
 protected:
  // A pod "p" with this spec would be refused with these errors.
  struct Mistake {
    std::string spec;
    std::vector<std::string> errors;
  };

  // Has the server look at a pod "p" with this spec.
  Reply Try(const json& spec) {
    return Post("pods?dryRun=All", Pod("p", {{"spec", spec}}));
  }

  // The same for its only container.
  Reply TryContainer(const json& container) {
    json whole = R"({"name": "c", "image": "i"})"_json;
    whole.merge_patch(container);
    return Try({{"containers", {whole}}});
  }

  void ExpectRefused(const std::vector<Mistake>& mistakes) {
    for (const auto& [spec, errors] : mistakes) {
      EXPECT_THAT(Try(json::parse(spec)), Invalid("Pod", "p", errors)) << spec;
    }
  }

  // Of its container; errors are relative to spec.containers[0].
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
