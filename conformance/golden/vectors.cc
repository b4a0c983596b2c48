#include "conformance/golden/vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "conformance/base/read_file.h"
#include "conformance/base/sha256.h"
#include "conformance/base/write_file.h"
#include "conformance/cases/fill.h"
#include "conformance/cases/mutate.h"
#include "conformance/golden/vector_cases.h"
#include "spec/attributes.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;

constexpr char kSchemaFile[] = "schema.json";
constexpr int kLeastTests = 60;  // per operator

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

VectorFile read_checked(const fs::path& path) {
  VectorFile file = read_vectors(read_file(path), path.string());
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

// The values of input k. A value outside int32 becomes -2^31, which is outside every precision.
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

// Reads attributes and types, not data. @return the label of the attributes' error
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
    v.texts = std::move(t.call.attrs);
    for (std::size_t k = 0; k < t.call.in.size(); ++k) v.call.in.push_back(type_of(t.call, k));
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

// The number in an identifier such as relu-0007; 0 if it is another operator's.
int number_of(const OpInfo& op, const std::string& id) {
  const std::string prefix = std::string(op.name) + "-";
  if (!id.starts_with(prefix)) return 0;
  const std::string digits = id.substr(prefix.size());
  const bool plain = digits.size() >= 4 && digits.size() <= 8 &&
      digits.find_first_not_of("0123456789") == std::string::npos;
  return plain ? std::stoi(digits) : 0;
}

std::string id_of(const OpInfo& op, int number) {
  std::string digits = std::to_string(number);
  digits.insert(0, digits.size() < 4 ? 4 - digits.size() : 0, '0');
  return std::string(op.name) + "-" + digits;
}

// Hashes the values of a call's recipes.
void hash_recipes(const OpInfo& op, VectorCall& call) {
  Case c;
  if (!read_call(op, call, c).empty()) return;
  for (std::size_t k = 0; k < call.in.size(); ++k)
    if (call.in[k].recipe) call.in[k].sha256 = values_hash(values_of(c, call.in[k], k));
}

// The identifier of the next test.
std::string next_id(const VectorFile& file) {
  int number = 0;
  for (const VectorTest& t : file.tests) number = std::max(number, number_of(*file.op, t.id));
  return id_of(*file.op, number + 1);
}

void add_candidates(VectorFile& file, VectorUpdate& done) {
  std::set<std::string> calls, comments;
  for (const VectorTest& t : file.tests) {
    calls.insert(call_text(t.call));
    comments.insert(t.comment);
  }
  std::string wrong;
  for (VectorCandidate& v : vector_candidates(*file.op)) {
    if (v.sampled && comments.count(v.comment)) continue;
    if (!calls.insert(call_text(v.call)).second) continue;
    VectorResult result = derive(*file.op, v.call);
    if (result.label != v.label)
      wrong += "\n  " + std::string(file.op->name) + ": '" + v.comment + "' should give '" +
          v.label + "', the reference gives '" + result.label + "'";
    file.tests.push_back(
        {next_id(file), v.comment, std::move(v.flags), std::move(v.call), std::move(result)});
    ++done.added;
  }
  if (!wrong.empty())
    throw BrokenSpecification("calls made to violate one rule violate another:" + wrong);
}

void replace_file(const fs::path& path, const std::string& text) {
  const fs::path fresh = path.string() + ".new";
  try {
    write_file(fresh.string(), text);
    fs::rename(fresh, path);
  } catch (const fs::filesystem_error& e) {
    fs::remove(fresh);
    throw std::runtime_error("cannot write '" + path.string() + "': " + e.code().message());
  }
}

// How a result differs from the frozen one.
std::string difference_of(const VectorResult& now, const VectorResult& frozen) {
  const auto word = [](const VectorResult& r) { return r.label.empty() ? "ok" : r.label; };
  if (now.label != frozen.label)
    return "the specification says " + word(now) + ", the file " + word(frozen);
  if (now.out.size() != frozen.out.size())
    return "the specification gives " + std::to_string(now.out.size()) + " outputs, the file " +
        std::to_string(frozen.out.size());
  for (std::size_t k = 0; k < now.out.size(); ++k) {
    const std::string out = "out[" + std::to_string(k) + "]";
    if (now.out[k].type != frozen.out[k].type) return out + " has another shape or precision";
    for (std::size_t i = 0; i < now.out[k].data.size(); ++i)
      if (now.out[k].data[i] != frozen.out[k].data[i])
        return out + ".data[" + std::to_string(i) + "]: the specification says " +
            std::to_string(now.out[k].data[i]) + ", the file " +
            std::to_string(frozen.out[k].data[i]);
  }
  return {};
}

std::string difference_of(const OpInfo& op, const VectorTest& t) {
  try {
    VectorCall call = t.call;
    hash_recipes(op, call);
    if (call_text(call) != call_text(t.call)) return "a recipe's values have another sha256";
    return difference_of(derive(op, t.call), t.result);
  } catch (const BrokenSpecification& e) {
    return std::string("the specification contradicts itself: ") + e.what();
  }
}

std::vector<std::string> differences_of(const VectorFile& file, const std::string& name) {
  std::vector<std::string> all;
  std::set<std::string> labels, calls;
  for (const VectorTest& t : file.tests) {
    const std::string where = name + ": " + t.id + ": ";
    if (number_of(*file.op, t.id) == 0) all.push_back(where + "no identifier of this operator");
    if (!calls.insert(call_text(t.call)).second) all.push_back(where + "repeats an earlier call");
    if (const std::string d = difference_of(*file.op, t); !d.empty()) all.push_back(where + d);
    labels.insert(t.result.label);
  }
  std::vector<std::string> needed = typed_labels(*file.op);
  for (const std::string& l : text_labels(*file.op)) needed.push_back(l);
  for (const std::string& l : needed)
    if (!labels.count(l)) all.push_back(fmt::format("{}: no test gives {}", name, l));
  if (static_cast<int>(file.tests.size()) < kLeastTests)
    all.push_back(name + ": fewer than " + std::to_string(kLeastTests) + " tests");
  return all;
}

}  // namespace

std::vector<VectorFile> read_vector_files(const std::string& directory) {
  std::vector<VectorFile> all;
  for (const fs::path& path : vector_files(directory)) all.push_back(read_checked(path));
  return all;
}

std::vector<Vector> load_vectors(const std::string& directory) {
  std::vector<Vector> all;
  for (const fs::path& path : vector_files(directory)) {
    VectorFile file = read_checked(path);
    for (VectorTest& t : file.tests) all.push_back(loaded(file, t, path));
  }
  if (all.empty()) throw UsageError("no vectors in '" + directory + "'");
  return all;
}

VectorResult derive(const OpInfo& op, const VectorCall& call) {
  Case c;
  if (const std::string refused = read_call(op, call, c); !refused.empty()) return {{}, refused};
  if (const Refusal r = refusal(c); r.refused()) return {{}, r.label()};
  std::vector<Tensor> in;
  for (std::size_t k = 0; k < call.in.size(); ++k)
    in.push_back({c.in[k], values_of(c, call.in[k], k)});
  reference::Outcome y = reference::evaluate(op, c.attributes(), in);
  if (y.status == reference::Status::runtime_error) throw BrokenSpecification(y.message);
  return {std::move(y.out), y.label};
}

std::vector<VectorUpdate> update_vectors(const std::string& directory) {
  fs::create_directories(directory);
  std::vector<VectorUpdate> all;
  for (const OpInfo* op : operators()) {
    const fs::path path = fs::path(directory) / (std::string(op->name) + ".json");
    const std::string before = fs::exists(path) ? read_file(path) : "";
    VectorFile file{op, {}};
    if (!before.empty()) file = read_checked(path);
    VectorUpdate done{path.filename().string(), 0, 0, {}};
    for (VectorTest& t : file.tests) {
      VectorResult now = derive(*op, t.call);
      if (result_text(now) != result_text(t.result)) done.changed.push_back(t.id);
      t.result = std::move(now);
      hash_recipes(*op, t.call);
    }
    add_candidates(file, done);
    done.tests = static_cast<int>(file.tests.size());
    if (const std::string after = file_text(file); after != before) replace_file(path, after);
    all.push_back(std::move(done));
  }
  return all;
}

std::string add_vector(const std::string& directory, const Case& c, const std::string& comment) {
  const fs::path path = fs::path(directory) / (std::string(c.op->name) + ".json");
  VectorFile file{c.op, {}};
  if (fs::exists(path)) file = read_checked(path);
  VectorTest t{next_id(file), comment, {}, types_call(c), {}};
  if (refusal(c).refused()) {
    t.flags = {"REJECT"};
  } else {
    const std::vector<Tensor> in = inputs_of(c);
    for (std::size_t k = 0; k < in.size(); ++k) {
      if (std::ssize(in[k].data) > kMaxWritten)
        throw UsageError("a vector writes out " + std::to_string(kMaxWritten) +
            " values at most, input " + std::to_string(k) + " of " + case_id(c) + " has " +
            std::to_string(in[k].data.size()));
      t.call.in[k].data.emplace(in[k].data.begin(), in[k].data.end());
    }
  }
  for (const VectorTest& other : file.tests)
    if (call_text(other.call) == call_text(t.call)) return {};
  t.result = derive(*c.op, t.call);
  file.tests.push_back(std::move(t));
  replace_file(path, file_text(file));
  return file.tests.back().id;
}

namespace {

// Notes every difference of a file. @param seen receives the operator that it is named after
void check_file(const fs::path& path, VectorCheck& found, std::set<std::string>& seen) {
  const std::string name = path.filename().string();
  seen.insert(path.stem().string());
  try {
    const std::string text = read_file(path);
    const std::size_t before = found.differences.size();
    const VectorFile file = read_vectors(text, name, &found.differences);
    const bool read = found.differences.size() == before;
    found.tests += std::ssize(file.tests);
    if (path.stem() != std::string(file.op->name))
      found.differences.push_back(name + ": has the vectors of " + std::string(file.op->name));
    if (read && file_text(file) != text)
      found.differences.push_back(name + ": is not written as `lockstep vectors update` writes it");
    for (std::string& d : differences_of(file, name)) found.differences.push_back(std::move(d));
  } catch (const UsageError& e) {
    found.differences.emplace_back(e.what());
  }
}

}  // namespace

VectorCheck check_vectors(const std::string& directory) {
  const std::vector<fs::path> files = vector_files(directory);
  if (files.empty()) throw UsageError("no vectors in '" + directory + "'");
  VectorCheck found;
  std::set<std::string> seen;
  for (const fs::path& path : files) check_file(path, found, seen);
  for (const OpInfo* op : operators())
    if (!seen.contains(std::string(op->name)))
      found.differences.push_back(std::string(op->name) + ".json is missing");
  return found;
}

std::string vectors_hash(const std::string& directory) {
  std::vector<fs::path> files = vector_files(directory);
  if (const fs::path schema = fs::path(directory) / kSchemaFile; fs::exists(schema))
    files.push_back(schema);
  std::sort(files.begin(), files.end());
  std::string lines;
  for (const fs::path& f : files)
    lines += sha256(read_file(f)) + "  " + f.filename().string() + "\n";
  return sha256(lines);
}

}  // namespace lockstep::judge
