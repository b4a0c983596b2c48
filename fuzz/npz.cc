// Any bytes as an archive of arrays, and as one array.
//
// A refusal has a known label and an offset inside the archive. Reading from memory and from a file
// gives the same result, in memory bounded by the archive's size. An accepted dictionary can be
// written as a parameter file. Written as an archive again, unless a name forbids that, it is read
// back unchanged, and from then on the bytes stay the same.
#include "containers/params/npz.h"

#include <algorithm>

#include "fuzz/files.h"

namespace {

using namespace lockstep;
using fuzz::hold;

bool known(const std::string& label) {
  const auto in = [&](const auto& table) {
    return std::ranges::find(table, label, &params::Reject::id) != std::end(table);
  };
  return in(params::kRejects) || in(params::npz::kRejects);
}

void hold_round_trips(const params::Params& found) {
  const std::vector<std::byte> file = params::write(found.tensors);
  hold(params::read(file).tensors == found.tensors, "a parameter file holds other tensors");
  std::vector<std::byte> archive;
  const fuzz::Outcome written = fuzz::outcome_of([&] {
    archive = params::npz::write(found.tensors);
    return params::npz::read(archive);
  });
  if (!written.label.empty()) {
    hold(written.label.starts_with("npz_"), "what was read cannot be written");
    return;
  }
  hold(written.params.tensors == found.tensors, "written again it holds other tensors");
  hold(params::npz::write(written.params.tensors) == archive, "written twice it differs");
}

// A stored array has all its bytes; one in Fortran order is copied once.
void hold_array(fuzz::File array) {
  fuzz::count_allocations();
  const fuzz::Outcome outcome = fuzz::outcome_of([&] {
    return params::Params{{{"", params::npz::read_npy(array)}}};
  });
  fuzz::hold_allocated((std::size_t{1} << 16) + 2 * array.size(), array.size());
  if (!outcome.label.empty())
    return hold(known(outcome.label) && outcome.offset == 0, "an array is refused otherwise");
  const params::Tensor& tensor = outcome.params.tensors[0].tensor;
  hold(params::npz::read_npy(params::npz::write_npy(tensor)) == tensor, "an array changes");
}

void hold_all(fuzz::File archive) {
  fuzz::count_allocations();
  const fuzz::Outcome outcome = fuzz::outcome_of([&] { return params::npz::read(archive); });
  // Deflated data grows at most 1032 times and may be transposed; each member needs a window.
  fuzz::hold_allocated((std::size_t{1} << 18) + 4096 * archive.size(), archive.size());
  const auto from_disk = [](const std::string& path) { return params::npz::read_file(path); };
  hold(fuzz::outcome_from_disk(archive, from_disk) == outcome, "read_file() disagrees with read()");
  if (outcome.label.empty()) return hold_round_trips(outcome.params);
  hold(known(outcome.label), "a refusal has a label that the tables lack");
  hold(outcome.offset <= archive.size(), "a refusal points behind the archive");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::File bytes = std::as_bytes(std::span(data, size));
  hold_all(bytes);
  hold_array(bytes);
  return 0;
}
