#pragma once

// Programs log with spdlog: spdlog::info("bound {} to {}", pod, node). Messages
// start in lower case and name the objects that they concern.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#if FMT_VERSION >= 90000 && FMT_VERSION < 100000
// Only log.cc compiles this function and the formatting of all types. Without
// this declaration, which other versions of fmt have, each file that logs would
// compile them.
extern template void fmt::detail::vformat_to<char>(buffer<char>&, string_view,
                                                   format_args, locale_ref);
#endif
