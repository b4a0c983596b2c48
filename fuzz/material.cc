// The material from which fuzzers start, derived from the descriptions of the operators:
// dictionaries, and inputs that are right, or wrong in one place.
//
// usage: fuzz_material MODEL DIRECTORY
//
// Writes DIRECTORY/<target>.dict and DIRECTORY/seeds/<target>/; MODEL is a model's directory.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "conformance/jsonl/lines.h"
#include "containers/params/npy.h"
#include "containers/params/zip.h"
#include "fuzz/operator_case.h"
#include "spec/attributes.h"

namespace lockstep::fuzz {
namespace {

namespace fs = std::filesystem;
using judge::Case;
using nlohmann::json;
using Words = std::set<std::string>;

void write_file(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!(text << file.rdbuf())) throw std::runtime_error("cannot read " + path.string());
  return text.str();
}

// An entry of a dictionary: in quotes, every byte that is not a plain character in hexadecimal.
std::string entry(std::string_view word) {
  std::string s = "\"";
  for (const char c : word) {
    char text[5];
    const bool plain = c >= ' ' && c < 0x7f && c != '"' && c != '\\';
    std::snprintf(text, sizeof text, plain ? "%c" : "\\x%02x", static_cast<unsigned char>(c));
    s += text;
  }
  return s + "\"\n";
}

void write_dictionary(const fs::path& path, const Words& words) {
  std::string text;
  for (const std::string& w : words)
    if (!w.empty()) text += entry(w);
  write_file(path, text);
}

// Every name in the descriptions of the operators.
Words names_of_operators() {
  Words words;
  for (const OpInfo* op : operators()) {
    words.insert({std::string(op->name), std::string(op->alias)});
    for (const AttrInfo& f : op->attrs) {
      words.insert({std::string(f.name), std::string(f.alias)});
      for (i64 k = 0; f.kind == AttrKind::word && k <= f.range.max; ++k)
        words.emplace(word_of(f, k));
    }
  }
  return words;
}

// The keys of a document and its short texts.
void take_words(const json& value, Words& words) {
  constexpr std::size_t kLongest = 24;
  if (value.is_string() && value.get_ref<const std::string&>().size() <= kLongest)
    words.insert(value.get<std::string>());
  for (const auto& [key, member] : value.items()) {
    if (value.is_object()) words.insert(key);
    if (value.is_structured()) take_words(member, words);
  }
}

std::string little_endian(std::uint64_t v) {
  std::string s;
  for (int i = 0; i < 8; ++i) s += static_cast<char>(v >> 8 * i);
  return s;
}

// A model of one call: its inputs are "data" and parameters, its outputs the heads.
json model_of(const Case& c, const json& attrs) {
  json nodes = json::array(), inputs = json::array(), heads = json::array();
  json shapes = json::array(), precisions = json::array(), ids = json::array();
  json texts = json::array(), arguments = json::array(), rows = {0};
  const auto add = [&](const Type& t) {
    shapes.push_back(std::vector<i64>(t.shape.begin(), t.shape.end()));
    precisions.push_back(t.precision);
    ids.push_back(ids.size());
  };
  for (const Type& t : c.in) {
    const std::size_t i = nodes.size();
    nodes.push_back({{"op", "null"}, {"name", i == 0 ? "data" : "w" + std::to_string(i)},
        {"inputs", json::array()}});
    inputs.push_back({i, 0, 0});
    arguments.push_back(i);
    texts.push_back("{}");
    add(t);
    rows.push_back(ids.size());
  }
  const Inferred y = c.op->infer(c.attributes(), c.types());
  for (int k = 0; k < y.count; ++k) {
    heads.push_back({nodes.size(), k, 0});
    add(y[k]);
  }
  nodes.push_back({{"op", "cvm_op"}, {"name", "call"}, {"inputs", inputs},
      {"attrs", {{"func_name", c.op->name}}}});
  texts.push_back(attrs.dump());
  rows.push_back(ids.size());
  return {{"nodes", nodes}, {"heads", heads}, {"arg_nodes", arguments}, {"node_row_ptr", rows},
      {"attrs",
          {{"storage_id", {"list_int", ids}}, {"shape", {"list_shape", shapes}},
              {"op_attrs", {"list_str", texts}}, {"precision", {"list_int", precisions}}}}};
}

// Draws from a seed, except for a given first choice.
struct Chosen : Draw {
  Chosen(i64 f, u64 seed) : first(f), rest(seed) {}
  constexpr i64 operator()(i64 lo, i64 hi) override {
    if (!taken) {
      taken = true;
      return first;
    }
    return rest(lo, hi);
  }
  i64 first;
  Seeded rest;
  bool taken = false;
};

void write_operator_seeds(const fs::path& seeds, std::size_t number) {
  const OpInfo& op = *operators()[number];
  const std::string name(op.name);
  for (int i = 0; i < op.example_count; ++i) {
    const Case c = judge::example_case(op, i);
    const std::string line = judge::write_request(c, judge::inputs_of(c), std::to_string(i));
    const std::string file = name + "-example-" + std::to_string(i);
    write_file(seeds / "lines" / file, line);
    write_file(seeds / "symbol" / file, model_of(c, json::parse(line)["attrs"]).dump());
  }
  for (const Case& c : judge::illegal_cases(op, 1, 1))
    write_file(seeds / "lines" / judge::refusal(c).label(), judge::write_request(c, {}, "1"));
  constexpr u64 kCalls = 48;
  for (u64 n = 0; n < kCalls; ++n) {
    Chosen source(static_cast<i64>(number), n);
    judge::Recorded draw(source);
    draw_operator_case(draw);
    write_file(seeds / "operators" / (name + "-" + std::to_string(n)),
        {reinterpret_cast<const char*>(draw.bytes.data()), draw.bytes.size()});
  }
}

void write_params_seeds(const fs::path& seeds) {
  std::vector<params::NamedTensor> all;
  for (const params::NamedDType& d : params::kDTypes) {
    params::Tensor t;
    t.dtype = d.dtype;
    t.shape = {2, 1};
    t.bytes = params::Bytes::own(
        std::vector<std::byte>(2 * static_cast<std::size_t>(d.dtype.bytes()), std::byte{1}));
    all.push_back({std::string(d.name), t});
  }
  const auto write = [&](const char* name, const std::vector<params::NamedTensor>& tensors) {
    const std::vector<std::byte> bytes = params::write(tensors);
    write_file(
        seeds / "params" / name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    const std::vector<std::byte> archive = params::npz::write(tensors);
    write_file(
        seeds / "npz" / name, {reinterpret_cast<const char*>(archive.data()), archive.size()});
    if (tensors.empty()) return;
    const std::vector<std::byte> array = params::npz::write_npy(tensors.back().tensor);
    write_file(seeds / "npz" / (std::string(name) + ".npy"),
        {reinterpret_cast<const char*>(array.data()), array.size()});
  };
  write("every-type", all);
  write("empty", {});
  const std::vector<i32> two = {1, -1};
  write("scalar-and-empty",
      {{"w", params::from_int32({2}, two)}, {"", params::from_int32({}, std::vector<i32>{7})},
          {"no elements", params::from_int32({3, 0}, {})}});
}

void write_all(const fs::path& model, const fs::path& to) {
  const fs::path seeds = to / "seeds";
  const std::string symbol = read_file(model / "symbol.json");
  Words lines = names_of_operators(), symbols = lines;
  take_words(json::parse(judge::line_schema()), lines);
  take_words(json::parse(symbol), symbols);
  write_dictionary(to / "lines.dict", lines);
  write_dictionary(to / "symbol.dict", symbols);
  write_dictionary(to / "params.dict",
      {little_endian(params::kFileMagic), little_endian(params::kRecordMagic), little_endian(1)});
  using namespace params::npz;
  Words archive = {
      std::string(kNpyMagic), "'descr': '>i4', ", "'fortran_order': True, ", "(2, 1), "};
  for (const std::uint64_t signature :
      {kLocalSignature, kEntrySignature, kEndSignature, kEnd64Signature, kLocatorSignature})
    archive.insert(little_endian(signature).substr(0, 4));
  write_dictionary(to / "npz.dict", archive);
  write_file(seeds / "symbol" / "model", symbol);
  write_params_seeds(seeds);
  for (std::size_t k = 0; k < operators().size(); ++k) write_operator_seeds(seeds, k);
}

}  // namespace
}  // namespace lockstep::fuzz

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: fuzz_material MODEL DIRECTORY\n");
    return 2;
  }
  try {
    lockstep::fuzz::write_all(argv[1], argv[2]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fuzz_material: %s\n", e.what());
    return 1;
  }
  return 0;
}
