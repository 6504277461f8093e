#pragma once

#include <string>

#include "minisched/api/quantity.h"

namespace minisched::explain {

// Returns an amount for people: "2.5" cores, "1.5Gi" of memory, "2" devices.
// Rounds bytes down to two decimals. `amount` is in thousandths for cpu.
// REQUIRES: amount >= 0.
std::string ShowAmount(const std::string& resource, Amount amount);

// Returns an exact quantity: "2500m", "1536Mi".
std::string ToQuantity(const std::string& resource, Amount amount);

}  // namespace minisched::explain
