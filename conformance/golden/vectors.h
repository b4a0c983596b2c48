/// @file
/// Golden vectors: frozen calls with frozen results, in files that any program can use
/// (vectors/FORMAT.md).
#pragma once
#include <string>
#include <vector>

#include "conformance/cases/case.h"
#include "conformance/golden/vector_file.h"

namespace lockstep::judge {

/// One frozen call and its expected result.
struct Vector {
  enum Expectation {
    outputs,      ///< `call` has the outputs `out`
    typed_error,  ///< `call` is refused with `label` (steps 3 to 7)
    text_error    ///< a violation that only readers of text and data see; of `call`, the operator
                  ///< and the types only
  } expectation = outputs;
  std::string id;
  Case call;
  std::vector<Tensor> out;
  std::string label;
  AttrTexts texts = {};  ///< the attributes of a text_error
};

/// Every vector of a directory, in the order of its files' names.
/// @throws UsageError naming file and test that are wrong.
std::vector<Vector> load_vectors(const std::string& directory);

/// Every file of a directory, in the order of their names.
/// @throws UsageError naming file and test that are wrong.
std::vector<VectorFile> read_vector_files(const std::string& directory);

/// The result of the reference for a frozen call.
/// @throws BrokenSpecification where the specification's text contradicts itself.
VectorResult derive(const OpInfo& op, const VectorCall& call);

/// The changes that an update made in one file.
struct VectorUpdate {
  std::string file;
  int tests = 0, added = 0;
  std::vector<std::string> changed;  ///< ids whose frozen result was different
};

/// Writes the vectors of every operator. Present tests keep call and identifier and get their
/// results derived again; missing calls are added with new identifiers.
/// @throws UsageError if a file cannot be updated.
std::vector<VectorUpdate> update_vectors(const std::string& directory);

/// Adds one call to a directory's vectors, with the reference's result and where it comes from.
/// @return its identifier; empty if the set has the call already.
/// @throws UsageError if the call cannot be frozen or a file cannot be updated.
std::string add_vector(const std::string& directory, const Case& c, const std::string& comment);

/// What a check of a frozen set found.
struct VectorCheck {
  i64 tests = 0;  ///< that were compared
  std::vector<std::string> differences;
};

/// Every difference between the frozen set and the present specification, including what the set
/// lacks and what cannot be read: one sentence each, naming file and test.
/// @throws UsageError if there are no vectors.
VectorCheck check_vectors(const std::string& directory);

/// SHA-256 of the set: of the lines `sha256sum *.json` prints in the C locale.
std::string vectors_hash(const std::string& directory);

}  // namespace lockstep::judge
