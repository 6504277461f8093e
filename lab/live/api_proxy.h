#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "minisched/api/api_resource.h"
#include "minisched/client/client.h"
#include "minisched/http/http.h"

namespace minisched::live {

// Returns the ten kinds of objects that the page shows and changes, in an order
// in which they can be created.
std::span<const ApiResource> ShownResources();

// Returns the path of an API server without its encoding if a page may send
// such a request there, else nullopt: objects and collections of the ten kinds,
// without subresources, and events, which can only be read. A deletion must
// name its object.
std::optional<std::string> ApiPath(const std::string& method,
                                   const std::string& path);

// Passes a request of a page, with the path of the API server, on to that
// server, and its response back. `respond` gets what the server sends, as YAML
// if the request prefers that, or {"error": …} if the request never reaches the
// server. Does not block; calls back at once or on a thread of `client`.
void PassToApi(Client& client, const http::Request& request,
               std::function<void(http::Reply)> respond);

// Returns the reply to malformed YAML: the error and, if the message begins
// with them, as numbers too, the line and the column.
http::Reply YamlErrorReply(const std::string& message);

// Returns the reply for a call that has failed: the server's Status, or an
// error.
http::Reply FailureReply(const ClientError& error);

}  // namespace minisched::live
