#include "containers/params/describe.h"

namespace lockstep::params {

Listing describe(const Params& params) {
  Listing listing;
  listing.trailing_bytes = params.trailing_bytes;
  listing.file_bytes = file_size(params.tensors) + params.trailing_bytes;
  for (const auto& [name, tensor] : params.tensors) {
    const std::uint64_t bytes = tensor.bytes.size();
    listing.rows.push_back({name, std::string(dtype_name(tensor.dtype)), tensor.shape, bytes});
    listing.data_bytes += bytes;
  }
  return listing;
}

}  // namespace lockstep::params
