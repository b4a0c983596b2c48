/// @file
/// What a parameter file holds, as rows a program can print.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "containers/layout/strides.h"
#include "containers/params/params.h"

namespace lockstep::params {

/// One tensor of a file.
struct Row {
  std::string name;  ///< as stored; print it through printable()
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = 0;
};

/// A whole file.
struct Listing {
  std::vector<Row> rows;
  std::uint64_t data_bytes = 0;      ///< the sum over the rows
  std::uint64_t file_bytes = 0;      ///< with all headers, and with what trails
  std::uint64_t trailing_bytes = 0;  ///< what a lenient reader ignored
};

/// The rows of a file, in file order.
Listing describe(const Params& params);

using lockstep::shape_text;

}  // namespace lockstep::params
