/// @file
/// Reads pictures.
#pragma once
#include <stdexcept>
#include <string_view>
#include <vector>

#include "spec/arithmetic.h"

namespace lockstep::judge {

/// Samples of 8 bits, row by row, the channels of a pixel side by side: grey, or red, green, blue,
/// and after them alpha where there is any.
struct Picture {
  i64 width = 0, height = 0, channels = 0;
  std::vector<std::uint8_t> samples;

  bool has_alpha() const { return channels % 2 == 0; }
};

/// A file that is no picture, or not one of 8 bits.
struct PictureError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads a PNG of 8 bits: grey, colour, or a palette, whose colours the pixels get. The samples are
/// those of the file: no gamma, profile or background changes them. They are read only if the
/// picture has this width and height, so that no file makes this function allocate more.
/// @throws PictureError
Picture read_png(std::string_view file, i64 width, i64 height);

}  // namespace lockstep::judge
