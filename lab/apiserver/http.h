#pragma once

#include "lab/apiserver/object.h"
#include "minisched/http/http.h"

namespace minisched::apiserver {

using http::ParseTarget;
using http::Reply;
using http::Request;
using http::Split;
using http::Stream;
using http::TextReply;

// Returns a reply with a JSON document.
Reply JsonReply(const Json& document, int status = 200);

}  // namespace minisched::apiserver
