#include <fmt/format.h>

#include <cmath>

#include "conformance/cli/params.h"
#include "containers/params/inspect.h"
#include "spec/text.h"

namespace lockstep::judge {
namespace {

struct DumpOptions {
  std::string file;
  std::vector<std::string> tensors;
  std::uint64_t limit = 16;
  bool all = false, lenient = false, as_json = false;

  std::uint64_t shown(const params::Tensor& tensor) const {
    const std::uint64_t count = params::element_count(tensor);
    return all ? count : std::min(count, limit);
  }
};

// Writes infinities and NaN as text, because JSON has no numbers for them.
form::NumberOrWord value_of(const params::Tensor& tensor, std::uint64_t index) {
  const params::ElementValue value = params::element(tensor, index);
  return std::visit(
      [&](auto number) -> form::NumberOrWord {
        const bool finite = std::isfinite(static_cast<double>(number));
        return {finite ? form::json(number) : form::json(params::element_text(value))};
      },
      value);
}

documents::DumpedTensor dumped(const params::NamedTensor& entry, std::uint64_t shown) {
  const auto& [name, tensor] = entry;
  documents::DumpedTensor d{name, documents::Head(tensor), params::element_count(tensor), {}};
  for (std::uint64_t i = 0; i < shown; ++i) d.values.push_back(value_of(tensor, i));
  return d;
}

// Prints one line for each row along the last axis.
void print_tensor(const params::NamedTensor& entry, std::uint64_t shown) {
  const auto& [name, tensor] = entry;
  fmt::print("{}  {}\n", shown_name(name), type_text(tensor));
  const auto row =
      tensor.shape.empty() ? std::uint64_t{1} : static_cast<std::uint64_t>(tensor.shape.back());
  for (std::uint64_t i = 0; i < shown; ++i) {
    const bool ends = (i + 1) % row == 0 || i + 1 == shown;
    fmt::print("{}{}{}", i % row == 0 ? "  " : " ",
        params::element_text(params::element(tensor, i)), ends ? "\n" : "");
  }
  const std::uint64_t count = params::element_count(tensor);
  if (shown < count) fmt::print("  ... {} of {} elements\n", shown, count);
}

Exit dump(const DumpOptions& o) {
  const params::Params contents = read_params(o.file, o.lenient);
  for (const std::string& name : o.tensors)
    if (!contents.find(name))
      throw UsageError(
          "no tensor " + shown_name(name) + " in '" + o.file + "' (lockstep params list)");
  documents::Dump all;
  for (const params::NamedTensor& entry : contents.tensors) {
    const bool wanted = o.tensors.empty() ||
        std::find(o.tensors.begin(), o.tensors.end(), entry.name) != o.tensors.end();
    if (!wanted) continue;
    if (o.as_json)
      all.tensors.push_back(dumped(entry, o.shown(entry.tensor)));
    else
      print_tensor(entry, o.shown(entry.tensor));
  }
  if (o.as_json) print_json(all);
  return Exit::pass;
}

struct DiffOptions {
  std::string first, second;
  bool lenient = false, as_json = false;
};

std::string difference_text(const params::Difference& d) {
  using params::Aspect;
  switch (d.aspect) {
    case Aspect::only_in_first:
    case Aspect::only_in_second: return type_text(d.first ? *d.first : *d.second);
    case Aspect::dtype:
      return fmt::format(
          "{} and {}", params::dtype_name(d.first->dtype), params::dtype_name(d.second->dtype));
    case Aspect::shape:
      return fmt::format("{} and {}", shape_text(d.first->shape), shape_text(d.second->shape));
    case Aspect::values:
      return fmt::format("{} of {} elements, the first at {}: {} and {}", d.differing,
          params::element_count(*d.first), params::index_text(d.first->shape, d.index),
          params::element_text(params::element(*d.first, d.index)),
          params::element_text(params::element(*d.second, d.index)));
    case Aspect::order: return "is the first tensor in another place";
  }
  return {};
}

documents::DifferingTensor described(const params::Difference& d) {
  const auto head = [](const params::Tensor* t) {
    return t ? std::optional(documents::Head(*t)) : std::nullopt;
  };
  documents::DifferingTensor all{
      std::string(params::name_of(d.aspect)), d.name, head(d.first), head(d.second), {}};
  if (d.aspect == params::Aspect::values)
    all.values = {d.differing, params::element_count(*d.first), d.index,
        value_of(*d.first, d.index), value_of(*d.second, d.index)};
  return all;
}

Exit diff(const DiffOptions& o) {
  const params::Params first = read_params(o.first, o.lenient);
  const params::Params second = read_params(o.second, o.lenient);
  const auto found = params::differences(first.tensors, second.tensors);
  const Exit exit = found.empty() ? Exit::pass : Exit::fail;
  if (o.as_json) {
    documents::Differences all{o.first, o.second, {}};
    for (const params::Difference& d : found) all.differences.push_back(described(d));
    print_json(all);
    return exit;
  }
  for (const params::Difference& d : found)
    fmt::print(
        "{:<15} {}  {}\n", params::name_of(d.aspect), shown_name(d.name), difference_text(d));
  fmt::print("{} differences\n{}\n", found.size(), exit_text(exit));
  return exit;
}

}  // namespace

void add_params_dump(CLI::App& group, Session& session) {
  auto o = std::make_shared<DumpOptions>();
  CLI::App* verb =
      add_params_verb(group, "dump", "Print values of tensors, exactly", o->as_json, o->lenient);
  verb->add_option("file", o->file, "a file")->required();
  verb->add_option("--tensor", o->tensors, "only the tensor of this name (repeatable)")
      ->allow_extra_args(false);
  CLI::Option* limit = verb->add_option("--limit", o->limit, "elements of each tensor, at most")
                           ->capture_default_str()
                           ->check(not_negative());
  verb->add_flag("--all", o->all, "every element")->excludes(limit);
  verb->callback([o, &session] { session.exit = static_cast<int>(dump(*o)); });
}

void add_params_diff(CLI::App& group, Session& session) {
  auto o = std::make_shared<DiffOptions>();
  CLI::App* verb = add_params_verb(group, "diff",
      "Name what differs between two files: names, types, shapes, bits, order", o->as_json,
      o->lenient);
  verb->add_option("first", o->first, "a file")->required();
  verb->add_option("second", o->second, "a file")->required();
  verb->callback([o, &session] { session.exit = static_cast<int>(diff(*o)); });
}

}  // namespace lockstep::judge
