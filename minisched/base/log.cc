#include "minisched/base/log.h"

#if FMT_VERSION >= 90000 && FMT_VERSION < 100000
template void fmt::detail::vformat_to<char>(buffer<char>&, string_view,
                                            format_args, locale_ref);
#endif
