#include "conformance/vectors.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "conformance/fill.h"
#include "conformance/vector_file.h"
#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;

constexpr char kSchemaFile[] = "schema.json";

// Every JSON file but the schema, in bytewise order of the names.
std::vector<fs::path> vector_files(const std::string& directory) {
  std::error_code failed;
  std::vector<fs::path> files;
  for (const auto& e : fs::directory_iterator(directory, failed))
    if (e.path().extension() == ".json" && e.path().filename() != kSchemaFile)
      files.push_back(e.path());
  if (failed)
    throw UsageError("cannot read the vectors in '" + directory + "': " + failed.message());
  std::sort(files.begin(), files.end());
  return files;
}

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) throw UsageError("cannot read '" + path.string() + "'");
  return text.str();
}

VectorFile read_checked(const fs::path& path) {
  VectorFile file = read_vectors(read_text(path), path.string());
  if (path.stem() != std::string(file.op->name))
    throw UsageError(path.string() + ": has the vectors of " + std::string(file.op->name));
  return file;
}

Type type_of(const VectorCall& call, std::size_t k) {
  Type t;
  for (i64 e : call.in[k].shape) t.shape.push(e);
  t.precision = static_cast<int>(clamp(call.in_prec[k], INT32_MIN, INT32_MAX));
  return t;
}

bool is_text_label(const std::string& label) {
  return label.starts_with("attr.") || label == "input.value";
}

// The values of input k. What int32 cannot hold becomes -2^31, which no precision holds either.
std::vector<i32> values_of(const Case& c, const VectorInput& in, std::size_t k) {
  if (in.recipe) {
    Case filled = c;
    filled.fill = in.recipe->fill;
    filled.seed = in.recipe->seed;
    return fill_values(filled, static_cast<int>(k));
  }
  if (!in.data) return std::vector<i32>(static_cast<std::size_t>(volume(c.in[k].shape)), 0);
  std::vector<i32> v;
  v.reserve(in.data->size());
  for (i64 e : *in.data)
    v.push_back(INT32_MIN < e && e <= INT32_MAX ? static_cast<i32>(e) : INT32_MIN);
  return v;
}

// Whether all inputs come from one recipe, so that the case stays short.
bool one_recipe(const VectorCall& call) {
  if (call.in.empty() || !call.in[0].recipe) return false;
  const Recipe r = *call.in[0].recipe;
  return std::all_of(call.in.begin(), call.in.end(), [&](const VectorInput& in) {
    return in.recipe && in.recipe->fill == r.fill && in.recipe->seed == r.seed;
  });
}

// Attributes and types; the data is left out. Returns the label of the attributes' error.
std::string read_call(const OpInfo& op, const VectorCall& call, Case& c) {
  c.op = &op;
  ReadAttributes attrs = read_attributes(op, {call.attrs.begin(), call.attrs.end()});
  if (!attrs.label.empty()) return attrs.label;
  c.attrs = std::move(attrs.values);
  c.fill = Fill::zero;
  for (std::size_t k = 0; k < call.in.size(); ++k) c.in.push_back(type_of(call, k));
  return {};
}

void read_data(const VectorCall& call, Case& c) {
  if (one_recipe(call)) {
    c.fill = call.in[0].recipe->fill;
    c.seed = call.in[0].recipe->seed;
    return;
  }
  for (std::size_t k = 0; k < call.in.size(); ++k) {
    const std::vector<i32> v = values_of(c, call.in[k], k);
    c.data.emplace_back(v.begin(), v.end());
  }
  c.fill = Fill::literal;
}

Vector loaded(const VectorFile& file, VectorTest& t, const fs::path& path) {
  Vector v;
  v.id = t.id;
  v.label = t.result.label;
  v.out = std::move(t.result.out);
  v.call.op = file.op;
  if (is_text_label(v.label)) {
    v.expectation = Vector::text_error;
    return v;
  }
  if (const std::string refused = read_call(*file.op, t.call, v.call); !refused.empty())
    throw UsageError(path.string() + ": " + t.id + ": its attributes are " + refused);
  if (!v.label.empty()) {
    v.expectation = Vector::typed_error;
    return v;
  }
  for (std::size_t k = 0; k < t.call.in.size(); ++k)
    if (!legal(v.call.in[k].shape))
      throw UsageError(path.string() + ": " + t.id + ": a result 'ok' for an illegal shape");
  read_data(t.call, v.call);
  return v;
}

}  // namespace

std::vector<Vector> load_vectors(const std::string& directory) {
  std::vector<Vector> all;
  for (const fs::path& path : vector_files(directory)) {
    VectorFile file = read_checked(path);
    for (VectorTest& t : file.tests) all.push_back(loaded(file, t, path));
  }
  if (all.empty()) throw UsageError("no vectors in '" + directory + "'");
  return all;
}

}  // namespace lockstep::judge
