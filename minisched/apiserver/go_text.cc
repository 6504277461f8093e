#include "minisched/apiserver/go_text.h"

namespace minisched::apiserver {

std::string GoText(const Json& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_string()) return value;
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (auto member = value.begin(); member != value.end(); ++member) {
    if (member != value.begin()) text += " ";
    if (value.is_object()) text += member.key() + ":";
    text += GoText(*member);
  }
  return (value.is_object() ? "map[" : "[") + text + "]";
}

std::string GoType(const Json& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_object()) return "map[string]interface {}";
  if (value.is_array()) return "[]interface {}";
  if (value.is_boolean()) return "bool";
  if (value.is_string()) return "string";
  return value.is_number_float() ? "float64" : "int64";
}

}  // namespace minisched::apiserver
