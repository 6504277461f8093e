#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "minisched/apiserver/list_options.h"
#include "minisched/apiserver/store.h"

namespace minisched::apiserver {

// Where a list that came in pages goes on, and the version that it is of. The
// token is opaque to clients.
struct Page {
  std::uint64_t version;
  Store::Key after;

  std::string ToToken() const;
  // Throws StatusError (400).
  static Page Parse(const std::string& token);
};

// The collection that a list is made from, and the version that it is of.
// Throws StatusError: 410 where that is longer ago than the store remembers,
// 504 where it is yet to come.
std::pair<Store::Collection, std::uint64_t> Snapshot(
    const Store& store, const std::string& collection,
    const ListOptions& options);

}  // namespace minisched::apiserver
