// Judges what a backend computes from a model's recorded inputs.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "conformance/base/base64.h"
#include "conformance/base/sha256.h"
#include "conformance/cli/model.h"
#include "conformance/trial/properties.h"
#include "reference/graph/bytes.h"
#include "reference/graph/error.h"
#include "reference/graph/load.h"

namespace lockstep::judge {
namespace {

struct ModelCheckOptions {
  std::string directory, backend = "cpu", json_file;
  Limits limits;
  bool quiet = false, record = false;
};

// Inputs with their labels, if any, the files of the model, and the record.
struct Data {
  std::string inputs;
  std::string altered;  // the file of inputs, where it is not the one that dataset.json names
  i64 count = 0;
  std::vector<i64> labels;
  std::vector<std::string> files = {"params", "symbol.json"};
  documents::Expected expected;
};

std::string record_file(const std::string& directory) { return directory + "/expected.json"; }

template <class T> T read_record(const std::string& file, const char* kind) {
  return read_document(
      file, kind, [](const std::string& text) { return form::loaded<T>(form::json_of(text)); });
}

// The inputs that dataset.json describes; without one, all of input.bin.
void read_data_set(const std::string& directory, i64 bytes_each, Data& d) {
  const std::string where = directory + "/dataset.json";
  documents::Dataset set;
  const bool described = std::filesystem::exists(where);
  if (described) set = read_record<documents::Dataset>(where, "data set of a model");
  d.inputs = read_file(directory + "/" + set.images);
  d.count = described ? set.count : std::ssize(d.inputs) / bytes_each;
  d.labels = set.labels;
  d.files.push_back(set.images);
  if (described) d.files.push_back("dataset.json");
  if (described && sha256(d.inputs) != set.sha256) d.altered = set.images;
  if (!d.labels.empty() && std::ssize(d.labels) != d.count)
    throw UsageError(fmt::format("'{}': {} labels for {} inputs", where, d.labels.size(), d.count));
  if (d.count == 0 || std::ssize(d.inputs) / bytes_each != d.count ||
      std::ssize(d.inputs) % bytes_each != 0)
    throw graph::Error("model.input",
        fmt::format("{} has {} bytes, which are not {} inputs of {} bytes",
            printable(directory + "/" + set.images), d.inputs.size(), std::max<i64>(d.count, 1),
            bytes_each));
}

Data read_data(const std::string& directory, const graph::Graph& graph) {
  Data d;
  const std::string record = record_file(directory);
  d.expected = read_record<documents::Expected>(record, "record of a model");
  read_data_set(directory, graph::input_length(graph), d);
  if (d.expected.correct.has_value() == d.labels.empty())
    throw UsageError("'" + record +
        "' must record how many inputs are correct where the data set " +
        "has labels, and only there");
  return d;
}

// The files of the model that differ from the record or from the hash in the data set.
std::vector<std::string> differing_files(const std::string& directory, const Data& data) {
  std::vector<std::string> names;
  for (const auto& [name, hash] : data.expected.files)
    if (name == data.altered || sha256(read_file(directory + "/" + name)) != hash)
      names.push_back(name);
  if (!data.altered.empty() && std::ranges::find(names, data.altered) == names.end())
    names.push_back(data.altered);
  return names;
}

std::string bytes_of(const std::vector<Tensor>& heads) {
  std::string s;
  for (const Tensor& t : heads) s += little_endian(t.data);
  return s;
}

i64 best(const std::vector<Tensor>& heads) {
  const std::vector<i32>& v = heads.at(0).data;
  return std::max_element(v.begin(), v.end()) - v.begin();
}

Tensor input_of(const graph::Graph& graph, const Data& data, i64 n) {
  const auto size = static_cast<std::size_t>(graph::input_length(graph));
  return graph::decode_input(graph,
      std::as_bytes(std::span(data.inputs)).subspan(static_cast<std::size_t>(n) * size, size));
}

struct Score {
  bool is_compiled = false;                    // it ran as one graph, too
  i64 inputs = 0, correct = 0, differing = 0;  // of the inputs that have outputs
  std::string digest, first_difference, stopped;
};

Score score(const graph::Model& model, const Data& data, Subject& subject,
    const std::function<void(i64, i64, i64)>& progress) {
  const graph::Graph& graph = model.graph();
  Score s;
  i64 done = 0;
  CompiledModel compiled(model, subject);
  s.is_compiled = compiled.can_run();
  const i64 all = 2 * data.count * std::ssize(calls_of(graph));
  const auto tell = [&](const std::vector<Tensor>&) {
    if (progress) progress(++done, all, s.differing);
  };
  SubjectEngine subject_engine(subject);
  graph::ReferenceEngine specification;
  ToldEngine engine(subject_engine, tell), oracle_engine(specification, tell);
  graph::Runner runner(model, engine), oracle(model, oracle_engine);
  std::string outputs;
  for (i64 n = 0; n < data.count; ++n) {
    const Tensor input = input_of(graph, data, n);
    try {
      const std::vector<Tensor> got = runner.run(input), want = oracle.run(input);
      if (!data.labels.empty()) s.correct += best(got) == data.labels[static_cast<std::size_t>(n)];
      outputs += bytes_of(got);
      const bool is_wrong = bytes_of(got) != bytes_of(want);
      const std::vector<Tensor> last = s.is_compiled && !is_wrong ? compiled.run(input) : got;
      if (bytes_of(last) != bytes_of(want) && s.differing++ == 0) {
        Answer a;
        for (const Tensor& t : last) a.out.push_back(t.data);
        s.first_difference = fmt::format(
            "input {}: {}{}", n, is_wrong ? "" : "compiled: ", difference(want, a)->text);
      }
    } catch (const Stopped& e) {
      s.stopped = fmt::format("input {}: {}", n, e.what());
      break;
    }
    ++s.inputs;
  }
  if (s.inputs > 0) s.digest = sha256(outputs);
  return s;
}

void print(const documents::Checked& c, const Score& s, const Data& data, i64 gas) {
  const documents::Expected& record = data.expected;
  const auto of_record = [](bool same) { return same ? "as recorded" : "NOT as recorded"; };
  fmt::print("{}  {} on {}\n", c.exit == 0 ? "PASS" : "FAIL", c.model, c.backend);
  for (const std::string& name : c.differing_files)
    fmt::print("  {} is not the file on record\n", printable(name));
  if (!s.stopped.empty()) fmt::print("  stopped at {}\n", s.stopped);
  if (const i64 n = s.inputs; n > 0) {
    if (c.correct)
      fmt::print("  accuracy {} of {} inputs ({}.{:02}%), {} recorded\n", s.correct, n,
          100 * s.correct / n, 10000 * s.correct / n % 100, *record.correct);
    fmt::print("  outputs equal to the specification's in {} of {} inputs, call by call{}\n",
        n - s.differing, n, s.is_compiled ? " and compiled" : "");
  }
  if (s.differing) fmt::print("  {}\n", s.first_difference);
  if (record.gas) fmt::print("  gas {} ({})\n", gas, of_record(gas == *record.gas));
  if (s.digest.empty())
    fmt::print("  no digest, because no input has outputs\n");
  else
    fmt::print("  digest {} ({})\n", s.digest, of_record(s.digest == record.sha256));
  fmt::print("  {}\n", exit_text(static_cast<Exit>(c.exit)));
}

int check(const ModelCheckOptions& o) {
  const bool printed = require_writable({o.json_file});
  const graph::Model model = graph::load_model(o.directory);
  const Data data = read_data(o.directory, model.graph());
  const documents::Expected& record = data.expected;
  const std::unique_ptr<Subject> subject = open_subject(o.backend, o.limits);
  const Score s =
      score(model, data, *subject, progress_to_stderr("model " + o.directory, o.quiet, "calls"));
  documents::Checked c{o.directory, subject->manifest().name, differing_files(o.directory, data),
      s.inputs, s.differing, {}, s.digest, record.sha256, s.stopped, 0};
  if (record.correct) c.correct = s.correct;
  const bool recorded = c.differing_files.empty() && s.digest == record.sha256 &&
      c.correct == record.correct &&
      record.gas.value_or(model.graph().gas()) == model.graph().gas();
  const Exit e = recorded && s.stopped.empty() && s.differing == 0 ? Exit::pass : Exit::fail;
  c.exit = static_cast<int>(e);
  if (!printed) print(c, s, data, model.graph().gas());
  if (!o.json_file.empty()) write_output(o.json_file, document_text(c));
  return c.exit;
}

// Records the outputs that the specification computes from the inputs.
int record(const ModelCheckOptions& o) {
  const std::string file = record_file(o.directory);
  if (std::filesystem::exists(file))
    throw UsageError("'" + file + "' is there already, and a record does not change");
  const graph::Model model = graph::load_model(o.directory);
  const graph::Graph& graph = model.graph();
  Data data;
  read_data_set(o.directory, graph::input_length(graph), data);
  if (!data.altered.empty())
    throw graph::Error("model.input",
        printable(o.directory + "/" + data.altered) +
            " is not the file that dataset.json names (SHA-256 differs)");
  const auto progress = progress_to_stderr("model " + o.directory, o.quiet, "calls");
  i64 done = 0, correct = 0;
  const i64 all = data.count * std::ssize(calls_of(graph));
  graph::ReferenceEngine specification;
  ToldEngine engine(specification, [&](const std::vector<Tensor>&) {
    if (progress) progress(++done, all, 0);
  });
  graph::Runner oracle(model, engine);
  std::string outputs;
  for (i64 n = 0; n < data.count; ++n) {
    const std::vector<Tensor> heads = oracle.run(input_of(graph, data, n));
    if (!data.labels.empty()) correct += best(heads) == data.labels[static_cast<std::size_t>(n)];
    outputs += bytes_of(heads);
  }
  documents::Expected e{data.count, {}, graph.gas(), sha256(outputs), {}, {}};
  if (!data.labels.empty()) e.correct = correct;
  std::sort(data.files.begin(), data.files.end());
  for (const std::string& name : data.files)
    e.files.emplace_back(name, sha256(read_file(o.directory + "/" + name)));
  write_file(file, document_text(e));
  fmt::print(
      "recorded in {}: {} inputs, gas {}, digest {}\n", file, data.count, graph.gas(), e.sha256);
  return static_cast<int>(Exit::pass);
}

}  // namespace

void add_model_check(CLI::App& group, Session& session) {
  auto o = std::make_shared<ModelCheckOptions>();
  CLI::App* verb = group.add_subcommand("check",
      "Run every recorded input of a model on a backend and beside the specification, and compare\n"
      "files and outputs with the record");
  verb->add_option("directory", o->directory,
          "holds symbol.json, params, expected.json, and dataset.json or input.bin")
      ->required()
      ->check(CLI::ExistingDirectory);
  CLI::Option* backend = verb->add_option("--backend", o->backend, "name, library or exec:COMMAND")
                             ->capture_default_str();
  add_limits(*verb, o->limits);
  CLI::Option* json =
      verb->add_option("--json", o->json_file, "write the result as JSON; - is standard output");
  verb->add_flag("--quiet", o->quiet, "no progress");
  verb->add_flag("--record", o->record,
          "run the specification alone and write expected.json, which must not be there")
      ->excludes(backend)
      ->excludes(json);
  verb->callback([o, &session] { session.exit = o->record ? record(*o) : check(*o); });
}

}  // namespace lockstep::judge
