#include "minisched/client/result.h"

#include <type_traits>

namespace minisched {

const char* ClientError::what() const {
  return std::visit(
      [](const auto& error) {
        if constexpr (std::is_same_v<decltype(error), const Cancelled&>) {
          return "cancelled";
        } else {
          return error.what();
        }
      },
      error_);
}

void ClientError::Throw() const {
  std::visit([](const auto& error) { throw error; }, error_);
  std::abort();  // not reached
}

}  // namespace minisched
