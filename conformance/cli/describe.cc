#include "conformance/specification/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "conformance/base/places.h"
#include "conformance/cli/verbs.h"
#include "conformance/subjects/library_subject.h"
#include "conformance/trial/properties.h"
#include "conformance/verdict/frozen.h"
#include "runtime/backends.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;

struct ListOptions {
  bool as_json = false, properties = false, backends = false, labels = false;
};

void list_backends(bool as_json) {
  const std::vector<std::string> names = runtime::installed_backends();
  if (as_json)
    fmt::print("{}\n", json(names).dump(1));
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
    for (const Property* p : kProperties) {
      all.push_back({{"name", p->name}, {"text", p->text}});
      if (!o.as_json) fmt::print("{:<20}{}\n", p->name, p->text);
    }
  } else {
    for (const OpInfo* op : operators()) {
      all.push_back(describe(*op));
      if (!o.as_json)
        fmt::print("{:<22}{:<8}{}\n", op->name, op->profile, first_sentence(op->summary));
    }
  }
  if (o.as_json) fmt::print("{}\n", all.dump(1));
}

/// The names of instruction sets that have kernels which run here, or which do not.
std::string isas(const Manifest& m, bool runnable) {
  std::vector<std::string> names;
  for (const KernelInfo& k : m.kernels)
    if (k.runnable == runnable && std::ranges::find(names, k.isa) == names.end())
      names.push_back(k.isa);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string text_of(const Manifest& m) {
  std::string text =
      fmt::format("{} {} on {}, kernels: {}", m.name, m.version, m.device, m.kernels.size());
  if (const std::string here = isas(m, true); !here.empty()) text += " for " + here;
  if (const std::string absent = isas(m, false); !absent.empty())
    text += " (cannot run here: " + absent + ")";
  return text;
}

int doctor() {
  int broken = 0;
  const auto say = [&](bool good, const std::string& what) {
    fmt::print("{}  {}\n", good ? "ok     " : "BROKEN ", what);
    broken += !good;
  };
  say(!operators().empty(), fmt::format("specification: {} operators", operators().size()));
  const std::vector<std::string> names = runtime::installed_backends();
  say(!names.empty(), "backends in " + runtime::backend_directory());
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
  const bool has_frozen = installed_frozen().has_value();
  say(has_frozen,
      "frozen tiers" +
          (has_frozen ? " in " + frozen_file() : " of this version are not installed"));
  const Exit e = broken ? Exit::fail : Exit::pass;
  fmt::print("{}\n", exit_text(e));
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

void add_doctor(CLI::App& app, Session& session) {
  app.add_subcommand("doctor", "Check the installation: specification, backends, vectors")
      ->callback([&session] { session.exit = doctor(); });
}

}  // namespace lockstep::judge
