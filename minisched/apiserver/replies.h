#pragma once

#include <string>

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/http.h"
#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

Reply JsonReply(const Json& document, int status = 200);
Reply TextReply(std::string text, int status = 200);
// The error's Status, with Retry-After where its details say so.
Reply ErrorReply(const StatusError& error);

}  // namespace minisched::apiserver
