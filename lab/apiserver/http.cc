#include "lab/apiserver/http.h"

namespace minisched::apiserver {

Reply JsonReply(const Json& document, int status) {
  // Go's encoder also ends the body with a newline.
  return {.status = status, .body = Dump(document) + "\n"};
}

}  // namespace minisched::apiserver
