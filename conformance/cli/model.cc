#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/base/base64.h"
#include "conformance/base/read_file.h"
#include "conformance/base/sha256.h"
#include "conformance/cli/verbs.h"
#include "conformance/trial/properties.h"
#include "reference/graph/bytes.h"
#include "reference/graph/load.h"
#include "reference/graph/run.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;
using Logits = std::vector<reference::Tensor>;

struct ModelOptions {
  std::string directory, backend = "cpu", json_file;
  Limits limits;
  bool quiet = false;
};

// A call of a model failed, so later calls lack their inputs.
struct Stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs the calls of a graph on the system under test.
class SubjectEngine : public graph::Engine {
 public:
  explicit SubjectEngine(Subject& subject) : subject_(subject) {}
  Logits run(const OpInfo& op, Attributes attrs, const Logits& in) override {
    Case c;
    c.op = &op;
    c.attrs.assign(attrs.begin(), attrs.end());
    for (const reference::Tensor& t : in) c.in.push_back(t.type);
    const Inferred types = op.infer(attrs, c.types());
    const Answer a = subject_.execute(c, in, types, {.poison = kPoison});
    Logits out;
    for (int k = 0; a.ok() && k < types.count; ++k)
      out.push_back({types[k], a.out.at(static_cast<std::size_t>(k))});
    if (!a.ok() || !std::all_of(out.begin(), out.end(), reference::holds_its_type))
      throw Stopped(
          fmt::format("{} {}", op.name, difference(reference::outputs(op, attrs, in), a)->text));
    return out;
  }

 private:
  Subject& subject_;
};

// Held-out inputs with their labels, and the recorded results.
struct Data {
  std::string inputs;
  std::size_t count = 0;
  std::vector<i64> labels;
  std::string expected_digest;
  i64 expected_correct = 0;
};

json read_json(const std::string& path) {
  json j = json::parse(read_file(path), nullptr, false);
  if (j.is_discarded() || !j.is_object()) throw UsageError("'" + path + "' is no JSON object");
  return j;
}

Data read_data(const std::string& dir) {
  const std::string where = dir + "/dataset.json";
  try {
    const json set = read_json(where), expected = read_json(dir + "/expected.json");
    Data d;
    d.inputs = read_file(dir + "/" + set.at("images").get<std::string>());
    d.count = set.at("count").get<std::size_t>();
    d.labels = set.at("labels").get<std::vector<i64>>();
    d.expected_digest = expected.at("sha256").get<std::string>();
    d.expected_correct = expected.at("correct").get<i64>();
    if (d.labels.size() != d.count || d.count == 0)
      throw UsageError("'" + where + "': " + std::to_string(d.labels.size()) + " labels for " +
          std::to_string(d.count) + " images");
    if (sha256(d.inputs) != set.at("sha256").get<std::string>())
      throw UsageError("'" + where + "': the images are not those it names (SHA-256 differs)");
    return d;
  } catch (const json::exception& e) {
    throw UsageError("'" + where + "' or expected.json: " + e.what());
  }
}

std::string bytes_of(const Logits& logits) {
  std::string s;
  for (const reference::Tensor& t : logits) s += little_endian(t.data);
  return s;
}

i64 best(const Logits& logits) {
  const std::vector<i32>& v = logits.at(0).data;
  return std::max_element(v.begin(), v.end()) - v.begin();
}

struct Score {
  i64 images = 0, correct = 0, differing = 0;  // of the images that have outputs
  std::string digest, first_difference, stopped;
};

Score score(const graph::Model& model, const Data& data, Subject& subject,
    const std::function<void(i64, i64, i64)>& progress) {
  SubjectEngine engine(subject);
  graph::ReferenceEngine specification;
  graph::Runner runner(model, engine), oracle(model, specification);
  const auto size = static_cast<std::size_t>(graph::input_length(model.graph()));
  if (data.inputs.size() != size * data.count)
    throw UsageError(fmt::format("{} bytes of images, {} inputs of {} bytes expected",
        data.inputs.size(), data.count, size));
  Score s;
  std::string all;
  for (std::size_t n = 0; n < data.count; ++n) {
    const auto* at = reinterpret_cast<const std::byte*>(data.inputs.data()) + n * size;
    const reference::Tensor input = graph::decode_input(model.graph(), {at, size});
    try {
      const Logits got = runner.run(input), want = oracle.run(input);
      s.correct += best(got) == data.labels[n];
      all += bytes_of(got);
      if (bytes_of(got) != bytes_of(want) && s.differing++ == 0) {
        Answer a;
        for (const reference::Tensor& t : got) a.out.push_back(t.data);
        s.first_difference = fmt::format("image {}: {}", n, difference(want, a)->text);
      }
    } catch (const Stopped& e) {
      s.stopped = fmt::format("image {}: {}", n, e.what());
      break;
    }
    ++s.images;
    if (progress) progress(s.images, static_cast<i64>(data.count), s.differing);
  }
  s.digest = sha256(all);
  return s;
}

void write_json(
    const ModelOptions& o, const Data& data, const Subject& subject, const Score& s, Exit e) {
  json j{{"model", o.directory}, {"backend", subject.manifest().name}, {"images", s.images},
      {"correct", s.correct}, {"differing", s.differing}, {"digest", s.digest},
      {"expected_digest", data.expected_digest}};
  if (!s.stopped.empty()) j["stopped"] = s.stopped;
  j["exit"] = static_cast<int>(e);
  write_file(o.json_file, j.dump(1) + "\n");
}

int run(const ModelOptions& o) {
  const Data data = read_data(o.directory);
  const graph::Model model = graph::load_model(o.directory);
  const std::unique_ptr<Subject> subject = open_subject(o.backend, o.limits);
  const Score s = score(model, data, *subject, progress_to_stderr("model " + o.directory, o.quiet));
  const bool frozen = s.digest == data.expected_digest && s.correct == data.expected_correct;
  const Exit e = s.stopped.empty() && s.differing == 0 && frozen ? Exit::pass : Exit::fail;
  fmt::print(
      "{}  {} on {}\n", e == Exit::pass ? "PASS" : "FAIL", o.directory, subject->manifest().name);
  if (!s.stopped.empty()) fmt::print("  stopped at {}\n", s.stopped);
  if (const i64 n = s.images; n > 0) {
    fmt::print("  accuracy {} of {} images ({}.{:02}%), {} recorded\n", s.correct, n,
        100 * s.correct / n, 10000 * s.correct / n % 100, data.expected_correct);
    fmt::print("  outputs equal to the specification's in {} of {} images\n", n - s.differing, n);
  }
  if (s.differing) fmt::print("  {}\n", s.first_difference);
  fmt::print("  digest {} ({})\n", s.digest,
      s.digest == data.expected_digest ? "as recorded" : "NOT as recorded");
  fmt::print("  {}\n", exit_text(e));
  if (!o.json_file.empty()) write_json(o, data, *subject, s, e);
  return static_cast<int>(e);
}

void show(const std::string& directory) {
  const graph::Graph g(read_file(directory + "/symbol.json"));
  for (const graph::Node& n : g.nodes()) {
    std::string types;
    for (int k = 0; k < n.entry_count; ++k) {
      const Type& t = g.entry(n.first_entry + k).type;
      types += fmt::format("{}{}@{}", k ? " " : "", fmt::join(t.shape, "x"), t.precision);
    }
    fmt::print("{:<20} {:<18} {:<18} {}\n", n.name, n.is_variable() ? "variable" : n.op->name,
        types, fmt::join(n.inputs, " "));
  }
  fmt::print("{} bytes of storage, {} gas\n", g.storage_bytes(), g.gas());
}

}  // namespace

void add_model(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("model", "Run or show a model: symbol.json, params, images");
  group->require_subcommand(1);
  auto o = std::make_shared<ModelOptions>();
  CLI::App* verb = group->add_subcommand(
      "run", "Run every image of a model on a backend and beside the specification");
  verb->add_option("directory", o->directory, "holds symbol.json, params and dataset.json")
      ->required()
      ->check(CLI::ExistingDirectory);
  verb->add_option("--backend", o->backend, "name, library or exec:COMMAND")->capture_default_str();
  add_limits(*verb, o->limits);
  verb->add_option("--json", o->json_file, "write the result as JSON");
  verb->add_flag("--quiet", o->quiet, "no progress");
  verb->callback([o, &session] { session.exit = run(*o); });

  auto directory = std::make_shared<std::string>();
  CLI::App* shown = group->add_subcommand(
      "show", "List a model's nodes with types and inputs; its storage and its gas");
  shown->add_option("directory", *directory, "holds symbol.json")
      ->required()
      ->check(CLI::ExistingDirectory);
  shown->callback([directory] { show(*directory); });
  add_model_make(*group, session);
}

}  // namespace lockstep::judge
