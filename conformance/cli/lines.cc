#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <set>

#include "conformance/cli/verbs.h"
#include "conformance/selection/select.h"
#include "conformance/subjects/eval.h"

namespace lockstep::judge {
namespace {

struct EvalOptions {
  std::string backend = "reference", cases = "-";
  Limits limits;
  bool schema = false;
};

int eval(const EvalOptions& o) {
  if (o.schema) {
    fmt::print("{}\n", line_schema());
    return 0;
  }
  const std::unique_ptr<Subject> subject = open_subject(o.backend, o.limits);
  std::ios::sync_with_stdio(false);
  if (o.cases == "-") return eval_lines(*subject, std::cin, std::cout);
  std::ifstream in(o.cases, std::ios::binary);
  if (!in || in.peek() == std::ifstream::traits_type::eof())
    throw UsageError("cannot read lines from '" + o.cases + "'");
  return eval_lines(*subject, in, std::cout);
}

int emit(Selection& s) {
  finish_selection(s);
  const std::vector<Item> items = select_cases(s);
  std::set<std::string> written;
  for (const Item& item : items) {
    // Write each call once, because an identifier belongs to one answer; typed items are no calls.
    if (item.what == Item::typed || !written.insert(item.id).second) continue;
    // An illegal call has no data, because it is refused before data is read.
    const std::vector<Tensor> in = item.runs() ? inputs_of(item.call) : std::vector<Tensor>();
    const std::string id = "\"" + item.id + "\"";
    fmt::print("{}\n",
        item.texts ? write_text_request(item.call, *item.texts, {}, id)
                   : write_request(item.call, in, id));
  }
  return static_cast<int>(items.empty() ? Exit::incomplete : Exit::pass);
}

}  // namespace

void add_eval(CLI::App& app, Session& session) {
  auto o = std::make_shared<EvalOptions>();
  CLI::App* verb =
      app.add_subcommand("eval", "Answer calls line by line: JSON in, JSON out, in order");
  verb->add_option("--backend", o->backend, "name, library or exec:COMMAND")->capture_default_str();
  verb->add_option("--cases", o->cases, "file of lines; - is standard input")
      ->capture_default_str();
  verb->add_option("--timeout", o->limits.timeout_s, "seconds for one answer")
      ->check(CLI::Range(0.001, 1e6))
      ->check(number())
      ->capture_default_str();
  verb->add_flag("--schema", o->schema, "print the JSON Schema of both kinds of line");
  verb->callback([o, &session] { session.exit = eval(*o); });
}

void add_emit(CLI::App& app, Session& session) {
  auto s = std::make_shared<Selection>();
  CLI::App* verb = app.add_subcommand("emit", "Write selected cases as calls, one JSON line each");
  verb->footer(
      "Answers that come back from elsewhere are judged with the same options:\n"
      "  lockstep emit --op relu > calls.jsonl\n"
      "  lockstep check --op relu --results answers.jsonl");
  add_selection(*verb, *s);
  verb->callback([s, &session] { session.exit = emit(*s); });
}

}  // namespace lockstep::judge
