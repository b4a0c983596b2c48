/// @file
/// Drawn lists of tensors, for tests of laws.
#pragma once

#include <rapidcheck.h>

#include <cstdlib>
#include <set>

#include "containers/params/params.h"

namespace lockstep::params {

// The same cases in every run, unless the environment asks for others.
inline const bool kSeeded = ::setenv("RC_PARAMS", "seed=20 max_success=300", 0) == 0;

inline rc::Gen<std::string> gen_name() {
  const auto character = rc::gen::element<std::string>(
      "a", "b", "_", "7", "\n", "\xC3\xA9", "\xE6\xB7\xB1", "\xF0\x9F\x90\x8D");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(character),
      [](const std::vector<std::string>& characters) {
        std::string name;
        for (const std::string& each : characters) name += each;
        return name;
      });
}

inline rc::Gen<Tensor> gen_tensor() {
  return rc::gen::exec([] {
    const DType dtype =
        (*rc::gen::elementOf(std::vector<NamedDType>(std::begin(kDTypes), std::end(kDTypes))))
            .dtype;
    const auto rank = *rc::gen::inRange<std::size_t>(0, 5);
    const auto shape =
        *rc::gen::container<std::vector<std::int64_t>>(rank, rc::gen::inRange<std::int64_t>(0, 4));
    const auto size = static_cast<std::size_t>(*byte_size(shape, dtype));
    const auto data =
        *rc::gen::container<std::vector<unsigned char>>(size, rc::gen::arbitrary<unsigned char>());
    return Tensor{dtype, shape, Bytes::copy(std::as_bytes(std::span(data)))};
  });
}

inline std::vector<NamedTensor> draw_tensors() {
  std::vector<NamedTensor> tensors;
  std::set<std::string> names;
  const auto count = *rc::gen::inRange(0, 6);
  for (int i = 0; i < count; ++i) {
    std::string name = *gen_name();
    while (!names.insert(name).second) name += 'x';
    tensors.push_back({name, *gen_tensor()});
  }
  return tensors;
}

}  // namespace lockstep::params
