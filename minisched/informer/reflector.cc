#include "minisched/informer/reflector.h"

#include "minisched/base/log.h"

namespace minisched {

void WarnOfMalformed(std::string_view kind, const MalformedObject& object) {
  spdlog::warn("ignoring {} {}: {}", kind, ObjectName(object), object.error);
}

}  // namespace minisched
