/// @file
/// The documents that the verbs of `lockstep model` read, and print with --json.
#pragma once
#include "conformance/base/form.h"

namespace lockstep::judge::documents {

using form::Rule;

inline constexpr i64 kLargest = (i64{1} << 31) - 1;  // of an int32

/// What is recorded of a model: its files, and the outputs for its inputs.
struct Expected {
  std::optional<i64> images, correct, gas;
  std::string sha256, sha256_first_20;
  form::Pairs<std::string> files;
};
template <class F> void fields(F& form, form::Like<Expected> auto& e) {
  form.optional("images", e.images, {.text = "How many inputs there are."});
  form.optional("correct", e.correct, {.text = "Inputs of which the largest output is the label."});
  form.optional("gas", e.gas);
  form("sha256", e.sha256, {.hash = true, .text = "Of the outputs as little-endian int32."});
  form.optional("sha256_first_20", e.sha256_first_20, {.hash = true});
  form.optional("files", e.files, {.hash = true, .text = "SHA-256 of each by its name."});
}

/// The inputs of a model that are in a file, one after the other.
struct Dataset {
  std::string images = "input.bin", sha256;
  i64 count = 0, bytes_per_element = 0;
  std::vector<i64> shape, labels;
};
template <class F> void fields(F& form, form::Like<Dataset> auto& d) {
  form("images", d.images, {.text = "The name of the file."});
  form("count", d.count, {.min = 1});
  form.optional("shape", d.shape);
  form.optional("bytes_per_element", d.bytes_per_element);
  form("sha256", d.sha256, {.hash = true});
  form.optional("labels", d.labels);
}

/// The verdict of `lockstep model check`.
struct Checked {
  std::string model, backend;
  std::vector<std::string> differing_files;
  i64 inputs = 0, differing = 0;
  std::optional<i64> correct;
  std::string digest, expected_digest, stopped;
  int exit = 0;
};
template <class F> void fields(F& form, const Checked& c) {
  form("model", c.model);
  form("backend", c.backend);
  form("differing_files", c.differing_files, {.text = "Files that are not those on record."});
  form("inputs", c.inputs, {.text = "Those that have outputs."});
  form.optional("correct", c.correct);
  form("differing", c.differing, {.text = "Inputs whose outputs differ from the specification's."});
  form.optional("digest", c.digest, {.hash = true, .text = "Absent where no input has outputs."});
  form("expected_digest", c.expected_digest, {.hash = true});
  form.optional("stopped", c.stopped, {.text = "Where a call failed, and how."});
  form("exit", c.exit);
}

struct ShownTensor {
  std::vector<i64> shape;
  i64 precision = 0, bytes = 0, storage = 0;
};
template <class F> void fields(F& form, const ShownTensor& t) {
  form("shape", t.shape, {.min = 1});
  form("precision", t.precision, {.min = 1, .max = 32});
  form("bytes", t.bytes, {.text = "As int32."});
  form("storage", t.storage, {.text = "The number of the memory that holds it."});
}

/// Output `output` of node `node`.
struct OutputOf {
  i64 node = 0, output = 0;
};
template <class F> void fields(F& form, const OutputOf& o) {
  form("node", o.node);
  form("output", o.output);
}

struct ShownNode {
  std::string name, call;
  i64 gas = 0;
  std::vector<OutputOf> inputs;
  std::vector<ShownTensor> outputs;
};
template <class F> void fields(F& form, const ShownNode& n) {
  form("name", n.name);
  form("call", n.call, {.text = "The operator and its attributes; empty for a variable."});
  form("gas", n.gas);
  form("inputs", n.inputs);
  form("outputs", n.outputs);
}

/// A model, as `lockstep model show` lists it.
struct Shown {
  std::string version, postprocess;
  i64 input_bytes = 0, input_element_bytes = 0, output_bytes = 0, output_element_bytes = 0,
      parameter_bytes = 0, parameters = 0, tensor_bytes = 0, storage_bytes = 0, gas = 0;
  std::vector<OutputOf> heads;
  std::vector<ShownNode> nodes;
};
template <class F> void fields(F& form, const Shown& s) {
  form("version", s.version);
  form("postprocess", s.postprocess);
  form("input_bytes", s.input_bytes);
  form("input_element_bytes", s.input_element_bytes);
  form("output_bytes", s.output_bytes);
  form("output_element_bytes", s.output_element_bytes);
  form("parameters", s.parameters);
  form("parameter_bytes", s.parameter_bytes, {.text = "As int32."});
  form("tensor_bytes", s.tensor_bytes, {.text = "Of all tensors, none sharing memory."});
  form("storage_bytes", s.storage_bytes, {.text = "What they take as the model plans it."});
  form("gas", s.gas);
  form("heads", s.heads);
  form("nodes", s.nodes);
}

/// One output of a call in a run.
struct TracedOutput {
  std::string node, op;
  i64 output = 0;
  std::vector<i64> shape;
  i64 precision = 0;
  std::string sha256;

  bool operator==(const TracedOutput&) const = default;
};
template <class F> void fields(F& form, form::Like<TracedOutput> auto& t) {
  form("node", t.node);
  form("operator", t.op);
  form("output", t.output, {.text = "Its number among those of the node."});
  form("shape", t.shape, {.min = 1});
  form("precision", t.precision, {.min = 1, .max = 32});
  form("sha256", t.sha256, {.hash = true, .text = "Of the values as little-endian int32."});
}

/// A run of a model, call by call.
struct Trace {
  std::string symbol, params, input, backend, version;
  std::vector<TracedOutput> outputs;
  std::string digest;
};
template <class F> void fields(F& form, form::Like<Trace> auto& t) {
  form.constant("kind", "trace of a model");
  form("symbol", t.symbol, {.hash = true, .text = "SHA-256 of symbol.json."});
  form("params", t.params, {.hash = true, .text = "SHA-256 of params."});
  form("input", t.input, {.hash = true, .text = "SHA-256 of the input as little-endian int32."});
  form("backend", t.backend);
  form("version", t.version, {.text = "Of the backend."});
  form("outputs", t.outputs);
  form.derived("digest", t.digest,
      {.hash = true, .text = "SHA-256 of the sha256 of all outputs, one after the other."});
}
/// Computes what follows from the rest.
void settle(Trace& trace);

/// The first element that differs between two traces.
struct PartedElement {
  std::vector<i64> index;
  i64 first = 0, second = 0, differing = 0, elements = 0;
};
template <class F> void fields(F& form, const PartedElement& e) {
  form("index", e.index);
  form("first", e.first, {.min = -kLargest - 1, .max = kLargest});
  form("second", e.second, {.min = -kLargest - 1, .max = kLargest});
  form("differing", e.differing, {.text = "How many elements of the output differ."});
  form("elements", e.elements, {.text = "How many it has."});
}

/// The first difference between two traces.
struct Parting {
  std::string first, second;
  i64 outputs = 0, equal = 0;
  std::optional<TracedOutput> output;
  std::optional<PartedElement> element;
};
template <class F> void fields(F& form, const Parting& p) {
  form("first", p.first, {.text = "The file of the first trace."});
  form("second", p.second);
  form("outputs", p.outputs);
  form("equal", p.equal, {.text = "Outputs before the first that differs."});
  form.optional("output", p.output, {.text = "The first that differs, as the first trace has it."});
  form.optional("element", p.element, {.text = "Where both traces carry values."});
}

/// A head, and what a run gave for it.
struct RanHead {
  std::string node;
  i64 output = 0;
  std::vector<i64> shape;
  i64 precision = 0, elements = 0;
};
template <class F> void fields(F& form, const RanHead& h) {
  form("node", h.node);
  form("output", h.output, {.text = "Its number among those of the node."});
  form("shape", h.shape, {.min = 1});
  form("precision", h.precision, {.min = 1, .max = 32});
  form("elements", h.elements);
}
struct RanOutput {
  std::string sha256;
  std::vector<i64> values;
};
template <class F> void fields(F& form, const RanOutput& o) {
  form("sha256", o.sha256, {.hash = true, .text = "Of the values as little-endian int32."});
  form("values", o.values, {.min = -kLargest - 1, .max = kLargest, .text = "The first of them."});
}
struct RanInput {
  std::vector<RanOutput> heads;
  std::vector<i64> argmax;
};
template <class F> void fields(F& form, const RanInput& i) {
  form("heads", i.heads);
  form.optional(
      "argmax", i.argmax, {.text = "Of a model with this postprocess: one for each row."});
}

/// What `lockstep model run` gave.
struct Ran {
  std::string model, backend;
  bool compiled = false;
  std::vector<RanHead> heads;
  std::vector<RanInput> runs;
  std::string digest;
};
template <class F> void fields(F& form, const Ran& r) {
  form("model", r.model);
  form("backend", r.backend);
  form("compiled", r.compiled, {.text = "Whether the backend ran the graph as a whole."});
  form("heads", r.heads);
  form("runs", r.runs, {.text = "One for each input."});
  form("digest", r.digest, {.hash = true, .text = "SHA-256 of all values in order."});
}

using ModelDocument = std::variant<Expected, Dataset, Checked, Shown, Trace, Parting, Ran>;
inline std::string model_schema() {
  return form::schema<ModelDocument>("A document of lockstep model");
}

}  // namespace lockstep::judge::documents
