#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/cli/verbs.h"
#include "reference/ndarray/params/describe.h"

namespace lockstep::judge {
namespace {

using json = nlohmann::ordered_json;

struct ParamsOptions {
  std::string file;
  bool lenient = false, as_json = false;
};

void list(const ParamsOptions& o) {
  const params::Listing l = params::describe(params::read_file(o.file, {o.lenient}));
  json rows = json::array();
  for (const params::Row& r : l.rows)
    rows.push_back({{"name", r.name}, {"dtype", r.dtype}, {"shape", r.shape}, {"bytes", r.bytes}});
  if (o.as_json) {
    const json all = {{"tensors", rows},
                      {"data_bytes", l.data_bytes},
                      {"file_bytes", l.file_bytes},
                      {"trailing_bytes", l.trailing_bytes}};
    fmt::print("{}\n", all.dump(1));
    return;
  }
  for (const params::Row& r : l.rows)
    fmt::print("{:<32} {:<8} {:<20} {:>12}\n", params::printable(r.name), r.dtype,
               params::shape_text(r.shape), r.bytes);
  fmt::print("{} tensors, {} bytes of data in {} bytes\n", l.rows.size(), l.data_bytes,
             l.file_bytes);
  if (l.trailing_bytes) fmt::print("{} trailing bytes ignored\n", l.trailing_bytes);
}

// Judges a file; its verdict is about the file, so a faulty one is a failure and no wrong usage.
int verify(const ParamsOptions& o) {
  try {
    const params::Params p = params::read_file(o.file, {o.lenient});
    fmt::print(
        "valid: {} tensors{}\nexit 0 (pass)\n", p.tensors.size(),
        p.trailing_bytes ? fmt::format(", {} trailing bytes ignored", p.trailing_bytes) : "");
    return static_cast<int>(Exit::pass);
  } catch (const params::Error& e) {
    fmt::print("rejected: {} at byte {}{}\n  {}\nexit 1 (fail)\n", e.label(), e.offset(),
               e.tensor() ? fmt::format(" in tensor '{}'", params::printable(*e.tensor())) : "",
               e.what());
    return static_cast<int>(Exit::fail);
  }
}

CLI::App* file_verb(CLI::App& group, const char* name, const char* text,
                    const std::shared_ptr<ParamsOptions>& o) {
  CLI::App* verb = group.add_subcommand(name, text);
  verb->add_option("file", o->file, "a parameter file")->required();
  verb->add_flag("--lenient", o->lenient, "ignore bytes after the last tensor, and count them");
  return verb;
}

}  // namespace

void add_params(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("params", "Look into parameter files");
  group->require_subcommand(1);
  auto o = std::make_shared<ParamsOptions>();
  CLI::App* listing = file_verb(*group, "list", "List the tensors of a file", o);
  listing->add_flag("--json", o->as_json, "as JSON");
  listing->callback([o] { list(*o); });
  file_verb(*group, "verify", "Judge a file by every rule of the format", o)
      ->callback([o, &session] { session.exit = verify(*o); });
}

}  // namespace lockstep::judge
