/// @file
/// Golden vectors: frozen calls with frozen results, in files a stranger can use
/// (vectors/FORMAT.md).
#pragma once
#include <string>
#include <vector>

#include "conformance/case.h"

namespace lockstep::judge {

/// One frozen call and what it must give.
struct Vector {
  enum Expectation {
    outputs,      ///< `call` has the outputs `out`
    typed_error,  ///< `call` is refused with `label` (steps 3 to 7)
    text_error    ///< a violation that only readers of text and data see; `call` has the operator
                  ///< only
  } expectation = outputs;
  std::string id;
  Case call;
  std::vector<Tensor> out;
  std::string label;
};

/// Every vector of a directory, in the order of its files' names.
/// @throws UsageError naming file and test that are wrong.
std::vector<Vector> load_vectors(const std::string& directory);

}  // namespace lockstep::judge
