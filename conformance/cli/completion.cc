#include <fmt/format.h>

#include "conformance/cli/verbs.h"

namespace lockstep::judge {
namespace {

std::string words(const CLI::App& verb) {
  std::string s;
  for (const CLI::App* sub : verb.get_subcommands({})) s += sub->get_name() + " ";
  for (const CLI::Option* o : verb.get_options())
    for (const std::string& name : o->get_lnames()) s += "--" + name + " ";
  return s;
}

// The verbs with subcommands.
std::string groups(const CLI::App& app) {
  std::string s;
  for (const CLI::App* verb : app.get_subcommands({}))
    if (!verb->get_subcommands({}).empty()) s += (s.empty() ? "" : " ") + verb->get_name();
  return s;
}

void print_case(const std::string& pattern, const CLI::App& verb) {
  fmt::print("    {}) COMPREPLY=($(compgen -W '{}' -- \"$now\")) ;;\n", pattern, words(verb));
}

// Derives the completion from the verbs, so that it is always up to date.
void print_bash(const CLI::App& app) {
  fmt::print("_lockstep() {{\n  local verb=${{COMP_WORDS[1]}} now=${{COMP_WORDS[COMP_CWORD]}}\n");
  fmt::print("  if ((COMP_CWORD == 1)); then\n    COMPREPLY=($(compgen -W '{}' -- \"$now\"))\n",
      words(app));
  fmt::print("    return\n  fi\n");
  // A subcommand is identified by both of its words, once the second is complete.
  fmt::print(
      "  ((COMP_CWORD > 2)) && [[ \" {} \" == *\" $verb \"* ]] && verb+=-${{COMP_WORDS[2]}}\n",
      groups(app));
  fmt::print("  case $verb in\n");
  for (const CLI::App* verb : app.get_subcommands({})) {
    print_case(verb->get_name(), *verb);
    for (const CLI::App* sub : verb->get_subcommands({}))
      print_case(verb->get_name() + "-" + sub->get_name(), *sub);
  }
  fmt::print("  esac\n}}\ncomplete -o default -F _lockstep lockstep\n");
}

}  // namespace

void add_completion(CLI::App& app, Session&) {
  app.add_subcommand("completion", "Print completion for bash: source <(lockstep completion)")
      ->callback([&app] { print_bash(app); });
}

}  // namespace lockstep::judge
