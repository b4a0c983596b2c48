// Infers with a model on a backend in this process, as an application does.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "conformance/base/base64.h"
#include "conformance/cli/model.h"
#include "containers/byte_order.h"
#include "containers/params/npz.h"
#include "reference/graph/arrays.h"
#include "reference/graph/bytes.h"
#include "reference/graph/load.h"
#include "runtime/session.h"

namespace lockstep::judge {
namespace {

using Heads = std::vector<ndarray::NDArray>;
constexpr i64 kShownValues = 10;

struct ModelRunOptions {
  std::string directory, output_file, json_file;
  std::vector<std::string> inputs;
  runtime::SessionOptions session;
  i64 png_offset = kPngOffset, batch = INT64_MAX, threads = 0;
  bool quiet = false;
};

using Results = std::vector<Heads>;  // of every input

// The inputs of all files, one file after the other.
Inputs read_all(const graph::Graph& graph, const ModelRunOptions& o) {
  std::vector<Inputs> files;
  i64 count = 0;
  for (const std::string& file : o.inputs)
    count += files.emplace_back(read_inputs(graph, {file, o.png_offset})).count;
  return {std::min(count, o.batch), [files = std::move(files)](i64 n) {
            auto file = files.begin();
            for (; n >= file->count; ++file) n -= file->count;
            return file->at(n);
          }};
}

Results infer_all(runtime::Session& session, const Inputs& inputs, const ModelRunOptions& o) {
  const auto tell =
      progress_to_stderr("run " + o.directory, o.quiet, session.is_compiled() ? "inputs" : "calls");
  Results all;
  runtime::Progress progress;
  if (tell)
    progress = [&](std::size_t done, std::size_t calls) {
      const i64 each = static_cast<i64>(calls);
      tell(std::ssize(all) * each + static_cast<i64>(done), inputs.count * each, 0);
    };
  for (i64 n = 0; n < inputs.count; ++n) {
    Tensor input = inputs.at(n);
    all.push_back(session.run(graph::array_of(input.type.shape, std::move(input.data)), progress));
  }
  return all;
}

std::vector<std::byte> encoded(const graph::Graph& graph, const Heads& heads) {
  std::vector<std::span<const i32>> values;
  for (const ndarray::NDArray& head : heads) values.push_back(graph::values_of(head));
  return graph::encode_output(graph, values);
}

std::vector<i64> rows_of_argmax(std::span<const std::byte> bytes) {
  std::vector<i64> rows;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(i32))
    rows.push_back(params::load_little_endian<i32>(bytes.data() + at));
  return rows;
}

documents::Ran ran_of(
    const runtime::Session& session, const Results& results, const ModelRunOptions& o) {
  const graph::Graph& graph = session.model().graph();
  documents::Ran ran{o.directory, o.session.backend, session.is_compiled(), {}, {}, {}};
  for (const int e : graph.heads()) {
    const graph::Entry& entry = graph.entry(e);
    const graph::Node& node = graph.nodes()[static_cast<std::size_t>(entry.node)];
    ran.heads.push_back(
        {node.name, e - node.first_entry, {entry.type.shape.begin(), entry.type.shape.end()},
            entry.type.precision, volume(entry.type.shape)});
  }
  std::string all;
  for (const Heads& heads : results) {
    documents::RanInput& one = ran.runs.emplace_back();
    for (const ndarray::NDArray& head : heads) {
      const std::span<const i32> values = graph::values_of(head);
      const std::size_t before = all.size();
      all += little_endian(values);
      one.heads.push_back({sha256(std::string_view(all).substr(before)),
          {values.begin(), values.begin() + std::min<i64>(kShownValues, std::ssize(values))}});
    }
    if (graph::has_argmax(graph)) one.argmax = rows_of_argmax(encoded(graph, heads));
  }
  ran.digest = sha256(all);
  return ran;
}

void print(const documents::Ran& r) {
  fmt::print("{} on {}, {}\n", r.model, r.backend, r.compiled ? "compiled" : "call by call");
  for (std::size_t n = 0; n < r.runs.size(); ++n) {
    fmt::print("input {}\n", n);
    for (std::size_t h = 0; h < r.heads.size(); ++h) {
      const documents::RanHead& head = r.heads[h];
      const documents::RanOutput& got = r.runs[n].heads[h];
      const bool more = std::ssize(got.values) < head.elements;
      fmt::print("  {}{}  {}@{}  {}{}\n", printable(head.node),
          head.output ? ":" + std::to_string(head.output) : "", fmt::join(head.shape, "x"),
          head.precision, fmt::join(got.values, " "), more ? " ..." : "");
    }
    if (!r.runs[n].argmax.empty()) fmt::print("  argmax  {}\n", fmt::join(r.runs[n].argmax, " "));
  }
  fmt::print("digest {} of {} inputs\n", r.digest, r.runs.size());
}

// The values of a head in all runs; with several runs, the first axis counts them.
params::Tensor array_of_head(const documents::Ran& ran, const Results& results, std::size_t head) {
  std::vector<i64> shape = ran.heads[head].shape;
  if (results.size() > 1) shape.insert(shape.begin(), std::ssize(results));
  std::vector<i32> values;
  for (const Heads& heads : results) {
    const std::span<const i32> more = graph::values_of(heads[head]);
    values.insert(values.end(), more.begin(), more.end());
  }
  return params::from_int32(std::move(shape), values);
}

std::string all_bytes(const graph::Graph& graph, const Results& results) {
  std::string all;
  for (const Heads& heads : results)
    for (const std::byte b : encoded(graph, heads)) all += static_cast<char>(b);
  return all;
}

void write_outputs(const std::string& file, const graph::Graph& graph, const documents::Ran& ran,
    const Results& results) {
  if (is_named(file, ".npy"))
    return params::npz::write_npy_file(file, array_of_head(ran, results, 0));
  if (!is_named(file, ".npz")) return write_output(file, all_bytes(graph, results));
  std::vector<params::NamedTensor> arrays;
  for (std::size_t h = 0; h < ran.heads.size(); ++h)
    arrays.push_back({"head_" + std::to_string(h), array_of_head(ran, results, h)});
  params::npz::write_file(file, arrays);
}

Exit run_model(ModelRunOptions o) {
  const bool printed = require_writable({o.output_file, o.json_file});
  if (o.threads && !o.session.options.emplace("threads", std::to_string(o.threads)).second)
    throw UsageError("--threads and --set threads=N are one option, given twice");
  graph::Model model = graph::load_model(o.directory);
  if (is_named(o.output_file, ".npy") && model.graph().heads().size() > 1)
    throw UsageError(
        fmt::format("'{}' has room for one head, the model has {}: .npz has room for all",
            o.output_file, model.graph().heads().size()));
  const Inputs inputs = read_all(model.graph(), o);
  std::optional<runtime::Session> session;
  Results results;
  try {
    utils::naming_out_of_memory("running", o.directory, [&] {
      session.emplace(std::move(model), o.session);
      results = infer_all(*session, inputs, o);
    });
  } catch (const utils::OutOfMemory&) {
    throw;
  } catch (const utils::LogMessageFatal& e) {
    fmt::print(stderr, "lockstep: {} (exit 1, fail)\n", printable(e.what()));
    return Exit::fail;
  }
  const documents::Ran ran = ran_of(*session, results, o);
  if (!o.output_file.empty()) write_outputs(o.output_file, session->model().graph(), ran, results);
  if (!o.json_file.empty()) write_output(o.json_file, document_text(ran));
  if (!printed) print(ran);
  return Exit::pass;
}

}  // namespace

void add_model_run(CLI::App& group, Session& session) {
  auto o = std::make_shared<ModelRunOptions>();
  CLI::App* verb = group.add_subcommand("run",
      "Infer with a model on a backend in this process, compiled where the backend can.\n"
      "A backend that was not judged before may crash it.");
  verb->add_option("model", o->directory, "a directory with symbol.json and params")
      ->required()
      ->check(CLI::ExistingDirectory);
  verb->add_option(
          "--input", o->inputs, "a file of inputs: .npy, .npz, .png, or bytes (repeatable)")
      ->required()
      ->allow_extra_args(false);
  add_png_offset(*verb, o->png_offset);
  verb->add_option("--batch", o->batch, "run so many inputs at most, one after the other")
      ->check(positive());
  verb->add_option("--backend", o->session.backend, "name or library")->capture_default_str();
  verb->add_option("--threads", o->threads, "an option of the backend: threads that share a call")
      ->check(positive());
  add_settings(*verb, o->session.options);
  verb->add_option("--output", o->output_file,
      "write the heads as an array (.npy) or several (.npz), or else as the bytes that\n"
      "CVMAPIInference gives; - is standard output");
  verb->add_option("--json", o->json_file, "write the result as JSON; - is standard output");
  verb->add_flag("--quiet", o->quiet, "no progress");
  verb->callback([o, &session] { session.exit = static_cast<int>(run_model(*o)); });
}

}  // namespace lockstep::judge
