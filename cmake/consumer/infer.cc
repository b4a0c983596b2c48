/// @file
/// A program that runs an installed model on an installed backend.
#include <cstdio>
#include <vector>

#include "runtime/session.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  using lockstep::ndarray::NDArray;
  auto session = lockstep::runtime::Session::load(argv[1], {.backend = argv[2]});
  const std::vector<std::int64_t> shape = {1, 1, 8, 8};
  NDArray image = NDArray::empty(shape, {kDLInt, 32, 1});
  auto* pixels = reinterpret_cast<std::int32_t*>(image.mutable_data());
  for (int k = 0; k < 64; ++k) pixels[k] = k % 17;
  const NDArray logits = session.run(image).at(0);
  std::printf("%lld logits, compiled: %s\n", static_cast<long long>(logits.shape()[1]),
      session.is_compiled() ? "yes" : "no");
  return logits.shape()[1] == 10 && session.is_compiled() ? 0 : 1;
}
