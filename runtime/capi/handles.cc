#include "runtime/capi/handles.h"

#include <mutex>
#include <unordered_map>
#include <utility>

#include "containers/logging.h"

namespace lockstep::ndarray {
namespace {

using Handles = std::unordered_map<const DLTensor*, NDArray>;

/// The live handles, each with the reference that it stands for. Single ones are looked up; nothing
/// walks through all of them, since their order differs from run to run.
struct HandleTable {
  std::mutex mutex;
  Handles handles;
};

HandleTable& table() {
  // Never destroyed, because destructors of static objects may still free handles.
  static HandleTable& only = *new HandleTable;
  return only;
}

constexpr std::string_view kNoHandle =
    " is no handle of an array, or no longer: it was not made here, or is freed already";

/// Refuses a handle whose fields were changed so that it cannot be used.
void verify_fields(const DLTensor& tensor, std::string_view name) {
  verify(tensor, name);
  const auto* container = reinterpret_cast<const Container*>(&tensor);
  VERIFY(same_device(tensor.device, container->device))
      << name << " says it is on " << device_text(tensor.device) << ", its memory on "
      << device_text(container->device);
  if (byte_count(tensor) == 0) return;
  const Reach around = reach(shape_of(tensor), strides_of(tensor), element_bytes(tensor.dtype));
  constexpr std::string_view kPlace = "the place of an element";
  VERIFY(std::in_range<i64>(tensor.byte_offset)) << name << " has a byte_offset beyond int64";
  const i64 start = add(static_cast<std::byte*>(tensor.data) - container->memory,
      static_cast<i64>(tensor.byte_offset), kPlace);
  const i64 first = add(start, around.first, kPlace);
  const i64 end = add(start, around.end, kPlace);
  VERIFY(first >= 0 && std::cmp_less_equal(end, container->bytes))
      << name << " reaches from byte " << first << " to " << end << " of memory that has "
      << container->bytes;
}

}  // namespace

std::vector<DLTensor*> hand_out(std::span<NDArray> arrays) {
  std::vector<DLTensor*> handles;
  Handles entries;
  for (NDArray& array : arrays) {
    handles.push_back(const_cast<DLTensor*>(&array.tensor()));
    entries.emplace(handles.back(), std::move(array));
  }
  HandleTable& live = table();
  const std::lock_guard lock(live.mutex);
  // With room for all, nothing can fail once the first handle is in the list.
  live.handles.reserve(live.handles.size() + entries.size());
  live.handles.merge(entries);
  return handles;
}

NDArray take_back(const DLTensor* handle) {
  HandleTable& live = table();
  const std::lock_guard lock(live.mutex);
  auto taken = live.handles.extract(handle);
  VERIFY(!taken.empty()) << "the array" << kNoHandle;
  return std::move(taken.mapped());
}

NDArray borrow(const DLTensor* handle, std::string_view name) {
  VERIFY(handle != nullptr) << name << " is null";
  NDArray array;
  {
    HandleTable& live = table();
    const std::lock_guard lock(live.mutex);
    const auto found = live.handles.find(handle);
    VERIFY(found != live.handles.end()) << name << kNoHandle;
    array = found->second;
  }
  verify_fields(array.tensor(), name);
  return array;
}

}  // namespace lockstep::ndarray
