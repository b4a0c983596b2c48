#include "conformance/describe.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/cli/verbs.h"
#include "conformance/places.h"
#include "conformance/property.h"
#include "conformance/subjects/library_subject.h"
#include "spec/attributes.h"
#include "spec/explain.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;

std::string bound(i64 v) {
  if (v == INT64_MIN) return "-2^63";
  if (v == INT64_MAX) return "2^63-1";
  return std::to_string(v);
}

void print_operator(const OpInfo& op) {
  fmt::print("{}{}  ({})\n\n  {}\n\n  {}\n", op.name,
             op.alias.empty() ? "" : fmt::format(", also {}", op.alias), op.profile, op.summary,
             op.formula);
  fmt::print("\nInputs\n");
  for (const Port& p : op.inputs)
    fmt::print("  {:<14}{}{}\n", p.name, p.text,
               p.arity == Arity::one        ? ""
               : p.arity == Arity::optional ? " (optional)"
                                            : " (1..1024)");
  fmt::print("\nOutputs\n");
  for (const Port& p : op.outputs) fmt::print("  {:<14}{}\n", p.name, p.text);
  if (op.attrs.size() > 0) fmt::print("\nAttributes\n");
  for (const AttrInfo& f : op.attrs) {
    std::string type(name_of(f.kind));
    if (f.kind == Kind::word)
      type = std::string(f.words);
    else if (f.kind != Kind::boolean)
      type += fmt::format(" {}..{}", bound(f.range.min), bound(f.range.max));
    fmt::print("  {:<16}{}, {}\n{:18}{}{}\n", f.name, type,
               f.required ? "required" : "default " + attribute_text(f, f.fallback), "", f.text,
               f.alias.empty() ? "" : fmt::format(" (also {})", f.alias));
  }
  fmt::print("\nRules, in the order of judgement\n");
  for (const OwnLabel& l : own_labels(op)) fmt::print("  {:<32}{}\n", l.label, l.text);
  if (op.errata.size() > 0) fmt::print("\nErrata\n");
  for (const Erratum& e : op.errata) fmt::print("  {}\n", e.text);
  fmt::print("\nExamples\n");
  for (int i = 0; i < op.example_count; ++i) {
    const AnyExample e = op.example(i);
    fmt::print("  {}\n    {}\n", e.text, case_id(example_case(op, i)));
    for (const Literal& l : e.out)
      if (l.shape.size > 0)
        fmt::print("    = {}@{}  {}\n", fmt::join(l.shape, "x"), l.precision,
                   fmt::join(l.data, " "));
  }
}

struct ListOptions {
  bool as_json = false, properties = false, backends = false, labels = false;
};

void list_backends(bool as_json) {
  json all = json::array();
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& e : std::filesystem::directory_iterator(backend_directory(), none))
    if (e.path().extension() == ".so") names.push_back(e.path().stem());
  std::sort(names.begin(), names.end());
  for (const std::string& n : names) all.push_back(n);
  if (as_json)
    fmt::print("{}\n", all.dump(1));
  else
    for (const std::string& n : names) fmt::print("{}\n", n);
}

void list(const ListOptions& o) {
  if (o.backends) return list_backends(o.as_json);
  json all = json::array();
  if (o.labels) {
    all = describe_labels();
    if (!o.as_json)
      for (const json& l : all)
        fmt::print("{:<32}{}\n", l["label"].get<string_view>(), l["text"].get<string_view>());
  } else if (o.properties) {
    for (const Property* p : properties()) {
      all.push_back({{"name", p->name}, {"text", p->text}});
      if (!o.as_json) fmt::print("{:<20}{}\n", p->name, p->text);
    }
    constexpr string_view kText = "every runnable kernel of the manifest ran";
    all.push_back({{"name", kPathsCovered}, {"text", kText}});
    if (!o.as_json) fmt::print("{:<20}{}\n", kPathsCovered, kText);
  } else {
    for (const OpInfo* op : operators()) {
      all.push_back(describe(*op));
      if (!o.as_json)
        fmt::print("{:<22}{:<8}{}\n", op->name, op->profile,
                   op->summary.substr(0, op->summary.find('.') + 1));
    }
  }
  if (o.as_json) fmt::print("{}\n", all.dump(1));
}

std::string text_of(const Manifest& m) {
  std::string kernels;
  for (const KernelInfo& k : m.kernels)
    kernels += fmt::format(" {}{}", k.name, k.runnable ? "" : " (cannot run here)");
  return fmt::format("{} {} on {}:{}", m.name, m.version, m.device, kernels);
}

int doctor() {
  int broken = 0;
  const auto say = [&](bool good, const std::string& what) {
    fmt::print("{}  {}\n", good ? "ok     " : "BROKEN ", what);
    broken += !good;
  };
  say(!operators().empty(), fmt::format("specification: {} operators", operators().size()));
  std::error_code none;
  std::vector<std::string> names;
  for (const auto& e : std::filesystem::directory_iterator(backend_directory(), none))
    if (e.path().extension() == ".so") names.push_back(e.path().stem());
  std::sort(names.begin(), names.end());
  say(!names.empty(), "backends in " + backend_directory());
  for (const std::string& n : names) {
    try {
      say(true, "backend " + text_of(open_subject(n, {})->manifest()));
    } catch (const CannotRun& e) {
      say(true, "backend " + text_of(e.manifest) + "; " + e.what());
    } catch (const RefusedOptions& e) {
      say(true, "backend " + n + " needs an option: " + e.what());
    } catch (const std::exception& e) {
      say(false, "backend " + n + ": " + e.what());
    }
  }
  const std::string vectors = vector_directory();
  say(!vectors.empty(),
      "golden vectors" + (vectors.empty() ? " are not installed" : " in " + vectors));
  const Exit e = broken ? Exit::fail : Exit::pass;
  fmt::print("exit {} ({})\n", static_cast<int>(e), word_of(e));
  return static_cast<int>(e);
}

}  // namespace

void add_list(CLI::App& app, Session&) {
  auto o = std::make_shared<ListOptions>();
  CLI::App* verb = app.add_subcommand("list", "List operators, properties or backends");
  verb->add_flag("--properties", o->properties, "what is judged");
  verb->add_flag("--backends", o->backends, "the backends that came with the program");
  verb->add_flag("--labels", o->labels, "the labels of errors");
  verb->add_flag("--json", o->as_json, "as JSON, operators with everything about them");
  verb->callback([o] { list(*o); });
}

void add_show(CLI::App& app, Session&) {
  auto name = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand("show", "Show an operator like a man page");
  verb->add_option("operator", *name, "name or alias")->required();
  verb->add_flag("--json", *as_json, "as JSON");
  verb->callback([name, as_json] {
    const OpInfo* op = find_operator(*name);
    if (!op) throw UsageError("no operator '" + *name + "' (lockstep list shows them)");
    if (*as_json)
      fmt::print("{}\n", describe(*op).dump(1));
    else
      print_operator(*op);
  });
}

void add_doctor(CLI::App& app, Session& session) {
  app.add_subcommand("doctor", "Say what is here and whether it works")->callback([&session] {
    session.exit = doctor();
  });
}

}  // namespace lockstep::judge
