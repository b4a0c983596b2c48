#include "containers/params/compare.h"

#include <algorithm>
#include <map>

#include "containers/params/elements.h"

namespace lockstep::params {
namespace {

using Index = std::map<std::string_view, const Tensor*>;

Index index_of(std::span<const NamedTensor> tensors) {
  Index index;
  for (const auto& [name, tensor] : tensors) index.emplace(name, &tensor);
  return index;
}

void compare_values(Difference d, std::vector<Difference>& found) {
  const auto width = static_cast<std::size_t>(d.first->dtype.bytes());
  const std::span<const std::byte> a = d.first->bytes.span(), b = d.second->bytes.span();
  for (std::size_t i = a.size(); i > 0; i -= width) {
    if (std::ranges::equal(a.subspan(i - width, width), b.subspan(i - width, width))) continue;
    ++d.differing;
    d.index = (i - width) / width;
  }
  found.push_back(std::move(d));
}

void compare_tensors(const std::string& name, const Tensor& a, const Tensor& b,
                     std::vector<Difference>& found) {
  if (a == b) return;
  if (a.dtype != b.dtype) found.push_back({Aspect::dtype, name, &a, &b});
  if (a.shape != b.shape) found.push_back({Aspect::shape, name, &a, &b});
  if (a.dtype == b.dtype && a.shape == b.shape)
    compare_values({Aspect::values, name, &a, &b}, found);
}

}  // namespace

std::string_view name_of(Aspect aspect) {
  constexpr std::string_view kNames[] = {"only_in_first", "only_in_second", "dtype",
                                         "shape",         "values",         "order"};
  return kNames[static_cast<std::size_t>(aspect)];
}

std::vector<Difference> differences(std::span<const NamedTensor> first,
                                    std::span<const NamedTensor> second) {
  const Index in_first = index_of(first), in_second = index_of(second);
  std::vector<Difference> found;
  bool same_names = first.size() == second.size();
  for (const auto& [name, tensor] : first) {
    const auto other = in_second.find(name);
    if (other == in_second.end()) {
      found.push_back({Aspect::only_in_first, name, &tensor, nullptr});
      same_names = false;
    } else {
      compare_tensors(name, tensor, *other->second, found);
    }
  }
  for (const auto& [name, tensor] : second) {
    if (!in_first.contains(name)) {
      found.push_back({Aspect::only_in_second, name, nullptr, &tensor});
    }
  }
  if (same_names) {
    const auto [a, b] =
        std::ranges::mismatch(first, second, {}, &NamedTensor::name, &NamedTensor::name);
    if (a != first.end()) {
      found.push_back({Aspect::order, a->name, &a->tensor, in_second.at(a->name)});
    }
  }
  return found;
}

}  // namespace lockstep::params
