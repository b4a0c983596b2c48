#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "conformance/cli/verbs.h"
#include "reference/graph/zoo/architectures.h"

namespace lockstep::judge {
namespace {

namespace zoo = graph::zoo;

struct MakeOptions {
  std::string name, directory;
  u64 seed = zoo::kSeed;
  i64 size = 0;  // 0: the architecture's own
  bool list = false, quiet = false;
};

void list() {
  for (const zoo::Architecture& a : zoo::architectures())
    fmt::print("{:<12} {}x{}  {}\n", a.name, a.size, a.size, a.text);
}

const zoo::Architecture& architecture(const std::string& name) {
  if (const zoo::Architecture* a = zoo::find_architecture(name)) return *a;
  throw UsageError("no network '" + printable(name) + "' (lockstep model make --list)");
}

void make(const MakeOptions& o) {
  if (o.name.empty() || o.directory.empty())
    throw UsageError("model make needs NAME and DIRECTORY (or --list)");
  const zoo::Architecture& a = architecture(o.name);
  const i64 size = o.size ? o.size : a.size;
  if (size % zoo::kStride != 0 || size > zoo::kMaxSize)
    throw UsageError(
        fmt::format("--size {} is no multiple of {} up to {}", size, zoo::kStride, zoo::kMaxSize));
  const zoo::Network network = zoo::make(a, o.seed, size);
  const std::string symbol = zoo::write_symbol(network.symbol);
  const graph::Graph graph(symbol);
  const std::vector<std::byte> input = zoo::seeded_input(graph, o.seed);
  std::error_code failed;
  std::filesystem::create_directories(o.directory, failed);
  if (failed) throw UsageError("cannot make '" + o.directory + "': " + failed.message());
  write_file(o.directory + "/symbol.json", symbol);
  params::write_file(o.directory + "/params", network.parameters);
  write_file(
      o.directory + "/input.bin", {reinterpret_cast<const char*>(input.data()), input.size()});
  if (o.quiet) return;
  fmt::print("{}: {}, {}x{}, seed {}\n", o.directory, a.name, size, size, o.seed);
  fmt::print("  {} nodes, {} bytes of parameters\n", graph.nodes().size(),
      params::data_size(network.parameters));
  fmt::print("  {} bytes of storage, {} gas\n", graph.storage_bytes(), graph.gas());
}

}  // namespace

void add_model_make(CLI::App& group, Session&) {
  auto o = std::make_shared<MakeOptions>();
  CLI::App* verb = group.add_subcommand("make",
      "Write a network of the literature with seeded weights: symbol.json, params, input.bin");
  verb->add_option("name", o->name, "name of the network; --list prints them");
  verb->add_option("directory", o->directory, "gets the files, and is made if it is not there");
  verb->add_option("--seed", o->seed, "seed of the weights and the input")
      ->check(without_sign())
      ->capture_default_str();
  verb->add_option("--size", o->size,
          "height and width of the image, a multiple of 32 (default: the network's own)")
      ->check(positive());
  verb->add_flag("--list", o->list, "print the networks");
  verb->add_flag("--quiet", o->quiet, "print nothing");
  verb->callback([o] { o->list ? list() : make(*o); });
}

}  // namespace lockstep::judge
