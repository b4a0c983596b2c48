/// @file
/// One file of golden vectors: its text, read strictly and written canonically
/// (vectors/FORMAT.md).
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cases/case.h"

namespace lockstep::judge {

/// The version of the set: format, more tests, fixes.
inline constexpr char kVectorsVersion[] = "0.5.0";

/// The most numbers that a test writes out for one tensor; a larger input is a recipe.
inline constexpr i64 kMaxWritten = 1024;

/// The values of an input by the generator of FORMAT.md.
struct Recipe {
  Fill fill = Fill::zero;
  u64 seed = 0;
};

/// An input as a test gives it. Without data and recipe it is all zeros.
struct VectorInput {
  std::vector<i64> shape;
  std::optional<std::vector<i64>> data;
  std::optional<Recipe> recipe;
  std::string sha256;  ///< of a recipe's values
};

/// A call as a test gives it: a line of `eval` without identifier and operator.
struct VectorCall {
  std::map<std::string, std::string> attrs;
  std::vector<i64> in_prec;
  std::vector<VectorInput> in;
};

/// The result of a call: outputs, or the label of an error.
struct VectorResult {
  std::vector<Tensor> out;
  std::string label;
};

struct VectorTest {
  std::string id, comment;
  std::vector<std::string> flags;
  VectorCall call;
  VectorResult result;
};

struct VectorFile {
  const OpInfo* op = nullptr;
  std::vector<VectorTest> tests;
};

/// Whether recipes may name a fill, because FORMAT.md defines it.
bool recipe_allowed(Fill f);

/// The canonical text of a call, by which tests are compared.
std::string call_text(const VectorCall& call);

/// The canonical text of a result.
std::string result_text(const VectorResult& result);

/// The canonical text of a file, one test a line.
std::string file_text(const VectorFile& file);

/// Reads a file's text.
/// @param name of the file, for messages.
/// @param wrong receives what is wrong with single tests, which are left out then
/// @throws UsageError naming file and test that are wrong.
VectorFile read_vectors(
    const std::string& text, const std::string& name, std::vector<std::string>* wrong = nullptr);

/// SHA-256, in hex, over the values as little-endian int32.
std::string values_hash(const std::vector<i32>& values);

}  // namespace lockstep::judge
