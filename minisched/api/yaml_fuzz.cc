// Fuzzes the conversion of YAML to JSON. The input is a stream of documents.

#include "minisched/api/parse_error.h"
#include "minisched/api/yaml.h"
#include "minisched/base/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  constexpr std::size_t kMaxValues = 1000;
  std::vector<std::string> documents;
  try {
    documents = YamlToJson(InputText(data, size), kMaxValues);
  } catch (const ParseError&) {
    return 0;
  }
  for (const std::string& document : documents) {
    // YamlToJson() returns JSON unchanged, and nothing else.
    Require(YamlToJson(document) == std::vector{document},
            "each document becomes JSON", document);
  }
  return 0;
}
