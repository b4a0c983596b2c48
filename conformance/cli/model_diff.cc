// Finds the first difference between two traces of a model.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "conformance/cli/model.h"
#include "conformance/cli/model_trace.h"

namespace lockstep::judge {
namespace {

struct ModelDiffOptions {
  std::string first, second, json_file;
};

// Whether it is the same output of the same call.
bool same_output(documents::TracedOutput a, const documents::TracedOutput& b) {
  a.sha256 = b.sha256;
  return a == b;
}

// What the runs of two traces must have in common.
void expect_same_run(const documents::Trace& a, const documents::Trace& b) {
  const std::pair<const char*, bool> rows[] = {{"graphs (symbol.json)", a.symbol == b.symbol},
      {"parameters (params)", a.params == b.params}, {"inputs", a.input == b.input},
      {"outputs", std::ranges::equal(a.outputs, b.outputs, same_output)}};
  for (const auto& [what, same] : rows)
    if (!same) throw UsageError(fmt::format("the traces are of different {}", what));
}

documents::PartedElement parted(
    const std::vector<i64>& shape, const std::vector<i32>& a, const std::vector<i32>& b) {
  documents::PartedElement e;
  e.elements = std::ssize(a);
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] == b[k] || e.differing++ > 0) continue;
    e.first = a[k];
    e.second = b[k];
    i64 rest = static_cast<i64>(k);
    for (auto extent = shape.rbegin(); extent != shape.rend(); rest /= *extent++)
      e.index.insert(e.index.begin(), rest % *extent);
  }
  return e;
}

documents::Parting parting(const ModelDiffOptions& o, const TraceFile& a, const TraceFile& b) {
  const std::vector<documents::TracedOutput>&outputs = a.trace.outputs, &others = b.trace.outputs;
  const auto first = std::mismatch(outputs.begin(), outputs.end(), others.begin()).first;
  documents::Parting p{o.first, o.second, std::ssize(outputs), first - outputs.begin(), {}, {}};
  if (first == outputs.end()) return p;
  p.output = *first;
  const auto k = static_cast<std::size_t>(p.equal);
  if (a.archive && b.archive) p.element = parted(first->shape, a.values(k), b.values(k));
  return p;
}

void print(const documents::Parting& p, const TraceFile& a, const TraceFile& b) {
  if (!p.output) {
    fmt::print("equal in all {} outputs, digest {}\n", p.outputs, a.trace.digest);
  } else {
    const documents::TracedOutput& out = *p.output;
    fmt::print("part at output {} of node \"{}\", {} {}@{}, after {} of {} outputs\n", out.output,
        printable(out.node), out.op, fmt::join(out.shape, "x"), out.precision, p.equal, p.outputs);
    const std::pair<const TraceFile&, const std::string&> sides[] = {{a, p.first}, {b, p.second}};
    for (const auto& [side, file] : sides)
      fmt::print("  {}  {} {}, {}\n", side.trace.outputs[static_cast<std::size_t>(p.equal)].sha256,
          printable(side.trace.backend), printable(side.trace.version), file);
    if (p.element)
      fmt::print("  element [{}]: {} and {}; {} of {} elements differ\n",
          fmt::join(p.element->index, ","), p.element->first, p.element->second,
          p.element->differing, p.element->elements);
    else
      fmt::print("  traces with --values tell the element\n");
  }
  fmt::print("{}\n", exit_text(p.output ? Exit::fail : Exit::pass));
}

Exit diff(const ModelDiffOptions& o) {
  const bool printed = require_writable({o.json_file});
  const TraceFile a = read_trace_file(o.first), b = read_trace_file(o.second);
  expect_same_run(a.trace, b.trace);
  const documents::Parting p = parting(o, a, b);
  if (!o.json_file.empty()) write_output(o.json_file, document_text(p));
  if (!printed) print(p, a, b);
  return p.output ? Exit::fail : Exit::pass;
}

}  // namespace

void add_model_diff(CLI::App& group, Session& session) {
  auto o = std::make_shared<ModelDiffOptions>();
  CLI::App* verb = group.add_subcommand("diff",
      "Find the first output, and with values the first element, at which two traces of a run\n"
      "part. Exit 0: equal, 1: they part, 2: they are of different models or inputs.");
  verb->add_option("first", o->first, "what trace --json or --values wrote")->required();
  verb->add_option("second", o->second, "another, of the same model and input")->required();
  verb->add_option("--json", o->json_file, "write the result as JSON; - is standard output");
  verb->callback([o, &session] { session.exit = static_cast<int>(diff(*o)); });
}

}  // namespace lockstep::judge
