#pragma once

#include <string_view>

namespace minisched::live {

// The files of the live page: index.html, style.css, and one script, into which
// esbuild has joined the modules of page/.
extern const std::string_view kIndexHtml;
extern const std::string_view kStyle;
extern const std::string_view kScript;

}  // namespace minisched::live
