# Writes page_text.cc: the files of the live page as strings.
file(READ page/index.html html)
file(READ page/style.css style)
file(READ ${script} script)
file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [==[
#include "lab/live/page.h"
namespace minisched::live {
const std::string_view kIndexHtml = R"~page~(@html@)~page~";
const std::string_view kStyle = R"~page~(@style@)~page~";
const std::string_view kScript = R"~page~(@script@)~page~";
}  // namespace minisched::live
]==])
