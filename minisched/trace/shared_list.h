#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace minisched {

// A list whose elements never change. Copies share the elements.
template <class T>
class SharedList {
 public:
  SharedList() = default;
  SharedList(std::vector<T> values)  // NOLINT(google-explicit-constructor)
      : values_(std::make_shared<const std::vector<T>>(std::move(values))) {}
  SharedList(std::initializer_list<T> values)
      : SharedList(std::vector<T>(values)) {}

  const std::vector<T>& get() const {
    static const std::vector<T> none;
    return values_ ? *values_ : none;
  }

  auto begin() const { return get().begin(); }
  auto end() const { return get().end(); }
  bool empty() const { return get().empty(); }
  std::size_t size() const { return get().size(); }
  const T& operator[](std::size_t i) const { return get()[i]; }

 private:
  std::shared_ptr<const std::vector<T>> values_;  // null: no elements
};

}  // namespace minisched
