// Runs a model call by call and writes the hash of every output.
#include "conformance/cli/model_trace.h"

#include <fmt/format.h>

#include <memory>

#include "conformance/base/base64.h"
#include "conformance/cli/model.h"
#include "reference/graph/load.h"

namespace lockstep::judge {
namespace {

struct ModelTraceOptions {
  std::string directory, backend = "cpu", json_file, values_file;
  InputFile input;
  Limits limits;
  bool quiet = false;
};

// Collects the outputs of the calls, which run in the order of the nodes.
class Tracer {
 public:
  Tracer(const graph::Graph& graph, bool keep) : calls_(calls_of(graph)), keep_(keep) {}

  void add(const std::vector<Tensor>& out) {
    const graph::Node& n = *calls_[done_++];
    for (std::size_t k = 0; k < out.size(); ++k) {
      const Tensor& t = out[k];
      const std::vector<i64> shape(t.type.shape.begin(), t.type.shape.end());
      outputs.push_back({n.name, std::string(n.op->name), static_cast<i64>(k), shape,
          t.type.precision, sha256(little_endian(t.data))});
      if (keep_) values.push_back(params::from_int32(shape, t.data));
    }
  }
  /// The name of the call that runs next.
  std::string next() const { return printable(calls_[done_]->name); }
  i64 done() const { return static_cast<i64>(done_); }
  i64 all() const { return std::ssize(calls_); }

  std::vector<documents::TracedOutput> outputs;
  std::vector<params::Tensor> values;

 private:
  std::vector<const graph::Node*> calls_;
  bool keep_;
  std::size_t done_ = 0;
};

Tensor one_input(const graph::Graph& graph, const InputFile& file) {
  const Inputs inputs = read_inputs(graph, file);
  if (inputs.count != 1)
    throw UsageError(
        fmt::format("'{}' holds {} inputs, and a trace is that of one", file.path, inputs.count));
  return inputs.at(0);
}

void print(const ModelTraceOptions& o, const documents::Trace& t) {
  fmt::print("{} on {} {}\n", o.directory, t.backend, t.version);
  std::size_t node = 0, op = 0;
  const auto name_of = [](const documents::TracedOutput& out) {
    return printable(out.node) + (out.output ? ":" + std::to_string(out.output) : "");
  };
  for (const documents::TracedOutput& out : t.outputs) {
    node = std::max(node, name_of(out).size());
    op = std::max(op, out.op.size());
  }
  for (const documents::TracedOutput& out : t.outputs)
    fmt::print("{:<{}}  {:<{}}  {}  {}@{}\n", name_of(out), node, out.op, op, out.sha256,
        fmt::join(out.shape, "x"), out.precision);
  fmt::print("digest {} of {} outputs\n", t.digest, t.outputs.size());
}

Exit trace(const ModelTraceOptions& o) {
  const bool printed = require_writable({o.json_file, o.values_file});
  const graph::Model model = graph::load_model(o.directory);
  const Tensor input = one_input(model.graph(), o.input);
  const std::unique_ptr<Subject> subject = open_subject(o.backend, o.limits);
  const auto progress = progress_to_stderr("trace " + o.directory, o.quiet, "calls");
  Tracer tracer(model.graph(), !o.values_file.empty());
  SubjectEngine calls(*subject);
  ToldEngine engine(calls, [&](const std::vector<Tensor>& out) {
    tracer.add(out);
    if (progress) progress(tracer.done(), tracer.all(), 0);
  });
  try {
    graph::Runner(model, engine).run(input);
  } catch (const Stopped& e) {
    fmt::print("stopped at node \"{}\": {}\n{}\n", tracer.next(), e.what(), exit_text(Exit::fail));
    return Exit::fail;
  }
  documents::Trace t{sha256(read_file(symbol_file(o.directory))),
      sha256(read_file(params_file(o.directory))), sha256(little_endian(input.data)),
      subject->manifest().name, subject->manifest().version, std::move(tracer.outputs), {}};
  documents::settle(t);
  if (!o.values_file.empty()) write_trace_archive(o.values_file, t, tracer.values);
  if (!o.json_file.empty()) write_output(o.json_file, document_text(t));
  if (!printed) print(o, t);
  return Exit::pass;
}

}  // namespace

void add_model_trace(CLI::App& group, Session& session) {
  auto o = std::make_shared<ModelTraceOptions>();
  CLI::App* verb = group.add_subcommand(
      "trace", "Run a model call by call, and write the SHA-256 of every output of every node");
  verb->add_option("model", o->directory, "a directory with symbol.json and params")
      ->required()
      ->check(CLI::ExistingDirectory);
  verb->add_option("--input", o->input.path, "a file: .npy, .npz, .png, or bytes")->required();
  add_png_offset(*verb, o->input.png_offset);
  verb->add_option("--backend", o->backend, "name, library or exec:COMMAND")->capture_default_str();
  verb->add_option(
          "--values", o->values_file, "write the trace with all values, as NumPy's archive (.npz)")
      ->check(CLI::Validator(
          [](const std::string& file) {
            return is_named(file, ".npz") ? "" : "'" + file + "' does not end in .npz";
          },
          ""));
  add_limits(*verb, o->limits);
  verb->add_option("--json", o->json_file, "write the trace as JSON; - is standard output");
  verb->add_flag("--quiet", o->quiet, "no progress");
  verb->callback([o, &session] { session.exit = static_cast<int>(trace(*o)); });
}

}  // namespace lockstep::judge
