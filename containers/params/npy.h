/// @file
/// The header of NumPy's .npy format, versions 1.0 to 3.0: a magic number, a length and the text of
/// a Python dictionary.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "containers/params/npz.h"

namespace lockstep::params::npz {

/// "\x93NUMPY", then the version's two bytes; the header's length follows in two or four.
inline constexpr std::string_view kNpyMagic = "\x93NUMPY";
/// The bytes of magic number and version.
inline constexpr std::size_t kNpyStart = 8;
/// The suffix that a member's name adds to that of its tensor.
inline constexpr std::string_view kSuffix = ".npy";
/// Lengths that NumPy reads without being told that the file is trusted.
inline constexpr std::uint64_t kNpyHeaderMost = 10000;

/// What a header says of the data that follows it.
struct NpyHeader {
  DType dtype{};                    ///< the type of an element
  bool big_endian = false;          ///< whether the highest byte of an element comes first
  bool fortran_order = false;       ///< whether the first axis moves fastest
  std::vector<std::int64_t> shape;  ///< extents, the outermost axis first
};

/// Why a header's text is refused, and what was found. Whoever knows the member makes an Error of
/// it.
struct MalformedNpy {
  const Reject* fault;  ///< the label, which the list of all labels has
  std::string detail;   ///< what was found instead
};

/// Reads the dictionary. The grammar is that of what NumPy writes: three keys in any order, strings
/// without escapes, decimal numbers; blanks and commas as Python has them.
/// @throws MalformedNpy
NpyHeader parse_npy_header(std::string_view text);

/// The whole header as numpy.save writes it: version 1.0, padded to a multiple of 64 bytes.
std::string npy_header(DType dtype, std::span<const std::int64_t> shape);

}  // namespace lockstep::params::npz
