#include "reference/ndarray/capi/handles.h"

#include <mutex>
#include <unordered_set>
#include <utility>

#include "reference/ndarray/logging.h"

namespace lockstep::ndarray {
namespace {

/// The handles that programs hold. The program only looks single ones up and never iterates.
struct Book {
  std::mutex mutex;
  std::unordered_set<const DLTensor*> handles;
};

Book& book() {
  // Never destroyed, because destructors of static objects may still free handles.
  static Book& only = *new Book;
  return only;
}

}  // namespace

std::vector<DLTensor*> hand_out(std::span<NDArray> arrays) {
  std::vector<DLTensor*> handles(arrays.size());
  Book& out = book();
  const std::lock_guard lock(out.mutex);
  // Reserves room first, so that nothing can fail after the first handle is entered.
  std::unordered_set<const DLTensor*> entries;
  for (const NDArray& array : arrays) entries.insert(&array.tensor());
  out.handles.reserve(out.handles.size() + entries.size());
  out.handles.merge(entries);
  for (std::size_t i = 0; i < arrays.size(); ++i) handles[i] = std::move(arrays[i]).into_handle();
  return handles;
}

NDArray take_back(DLTensor* handle) {
  Book& out = book();
  const std::lock_guard lock(out.mutex);
  VERIFY(out.handles.erase(handle) == 1)
      << "this is no handle of an array, or no longer: it was not made here, or is freed already";
  return NDArray::from_handle(handle);
}

void verify_usable(const DLTensor* tensor, std::string_view name) {
  VERIFY(tensor != nullptr) << name << " is null";
  verify(*tensor, name);
  const Container* container = nullptr;
  {
    Book& out = book();
    const std::lock_guard lock(out.mutex);
    if (!out.handles.contains(tensor)) return;
    container = reinterpret_cast<const Container*>(tensor);
  }
  VERIFY(same_device(tensor->device, container->device))
      << name << " says it is on " << device_text(tensor->device) << ", its memory on "
      << device_text(container->device);
  if (byte_count(*tensor) == 0) return;
  const Reach around = reach(shape_of(*tensor), strides_of(*tensor), element_bytes(tensor->dtype));
  constexpr std::string_view kPlace = "the place of an element";
  VERIFY(std::in_range<i64>(tensor->byte_offset)) << name << " has a byte_offset beyond int64";
  const i64 start = add(static_cast<std::byte*>(tensor->data) - container->memory,
                        static_cast<i64>(tensor->byte_offset), kPlace);
  const i64 first = add(start, around.first, kPlace);
  const i64 end = add(start, around.end, kPlace);
  VERIFY(first >= 0 && std::cmp_less_equal(end, container->bytes))
      << name << " reaches from byte " << first << " to " << end << " of memory that has "
      << container->bytes;
}

}  // namespace lockstep::ndarray
