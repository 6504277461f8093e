#pragma once

#include "minisched/client/rest_config.h"
#include "minisched/config/extender.h"

namespace minisched {

// Returns how a Transport reaches the extender: its URL, without slashes at the
// end, its certificates, and the timeout of a call. A response can have at most
// 64 MiB. The rate of calls has no limit. Throws ConfigError if a file can't be
// read. Follows makeTransport of kube-scheduler's extender.go.
RestConfig ExtenderServer(const ExtenderConfig& extender);

}  // namespace minisched
