#include <fmt/format.h>

#include <sstream>

#include "conformance/golden/attribute_form.h"
#include "conformance/specification/describe.h"
#include "conformance/specification/specification.h"
#include "spec/attributes.h"
#include "spec/explain.h"
#include "spec/gas.h"

namespace lockstep::judge {
namespace {

constexpr int kIndent = 7;

std::string bound(i64 v) {
  if (v == INT64_MIN) return "-2^63";
  if (v == INT64_MAX) return "2^63-1";
  return std::to_string(v);
}

std::string values_of(const AttrInfo& f) {
  if (f.kind == AttrKind::word) return std::string(f.words);
  std::string type(name_of(f.kind));
  if (f.kind == AttrKind::tuple)
    type += f.entries.min == f.entries.max
        ? fmt::format(" of {}, each", f.entries.min)
        : fmt::format(" of {} to {}, each", f.entries.min, f.entries.max);
  const bool is_whole = f.kind == AttrKind::boolean && f.range.min != f.range.max;
  return is_whole ? type : fmt::format("{} {}..{}", type, bound(f.range.min), bound(f.range.max));
}

class Page {
 public:
  Page(const OpInfo& op, const Evidence& evidence, const PageStyle& style)
      : op_(op), evidence_(evidence), style_(style) {}

  std::string text() {
    about();
    ports("INPUTS", op_.inputs);
    ports("OUTPUTS", op_.outputs);
    attributes();
    types();
    rules();
    laws();
    costs();
    errata();
    examples();
    see_also();
    return std::move(out_);
  }

 private:
  std::string bold(string_view s) const {
    return style_.bold ? fmt::format("\033[1m{}\033[0m", s) : std::string(s);
  }
  void heading(string_view s) { out_ += (out_.empty() ? "" : "\n") + bold(s) + "\n"; }
  void paragraph(string_view s, int indent = kIndent) {
    out_ += filled_text(s, indent, style_.width);
  }
  // Prints a name on a line of its own and its description below.
  void entry(string_view name, string_view beside, string_view below) {
    const std::string tail = beside.empty() ? "" : fmt::format("  {}", beside);
    out_ += std::string(kIndent, ' ') + bold(name) + tail + "\n";
    paragraph(below, kIndent + 4);
  }

  void about() {
    heading("NAME");
    paragraph(fmt::format("{}{} - {}", op_.name,
        op_.alias.empty() ? "" : fmt::format(", {}", op_.alias), first_sentence(op_.summary)));
    heading("SYNOPSIS");
    paragraph(synopsis());
    heading("DESCRIPTION");
    paragraph(op_.summary);
    paragraph(fmt::format("Profile {}; defined {}.", op_.profile,
        op_.pointwise ? "element by element" : "as a whole"));
    heading("FORMULA");
    std::string_view rest = op_.formula;
    for (constexpr std::string_view kBreak = "\\quad"; !rest.empty();) {
      const std::size_t at = rest.find(kBreak);
      paragraph(rest.substr(0, at));
      rest = at == std::string_view::npos ? "" : rest.substr(at + kBreak.size());
    }
  }

  std::string synopsis() const {
    std::string in, out;
    for (const Port& p : op_.inputs) {
      const std::string name = fmt::format("{}{}", in.empty() ? "" : ", ", p.name);
      in += p.arity == Arity::optional ? fmt::format("[{}]", name) : name;
      if (p.arity == Arity::variadic) in += "...";
    }
    for (const AttrInfo& f : op_.attrs)
      in += fmt::format("{} {}={}", &f == op_.attrs.begin() ? ";" : ",", f.name,
          f.required ? std::string(name_of(f.kind)) : attribute_text(f, f.fallback));
    for (const Port& p : op_.outputs) out += fmt::format("{}{}", out.empty() ? "" : ", ", p.name);
    return fmt::format("{}({}) -> {}", op_.name, in, out);
  }

  void ports(string_view title, const Span<Port>& list) {
    heading(title);
    for (const Port& p : list) {
      const std::string rank = p.rank.min == p.rank.max
          ? fmt::format("rank {}", p.rank.min)
          : fmt::format("rank {} to {}", p.rank.min, p.rank.max);
      entry(p.name,
          rank +
              (p.arity == Arity::one               ? ""
                      : p.arity == Arity::optional ? ", optional"
                                                   : fmt::format(", 1 to {} of them", kMaxInputs)),
          p.text);
    }
  }

  void attributes() {
    heading("ATTRIBUTES");
    if (op_.attrs.size() == 0) paragraph("None; every key is refused.");
    for (const AttrInfo& f : op_.attrs) {
      const std::string known = f.alias.empty() ? "" : fmt::format(", also {}", f.alias);
      entry(f.name,
          f.required ? "required" + known
                     : fmt::format("default {}{}", attribute_text(f, f.fallback), known),
          fmt::format("{}; {}", values_of(f), f.text));
    }
  }

  void types() {
    heading("SHAPE");
    for (int k = 0; k < op_.outputs.size(); ++k) formula(op_.outputs[k].name, op_.shape[k]);
    heading("PRECISION");
    for (int k = 0; k < op_.outputs.size(); ++k) formula(op_.outputs[k].name, op_.precision[k]);
    if (!op_.accumulator.empty()) formula("Bits that hold every partial sum", op_.accumulator);
    paragraph(op_.exceeds & kPrecision
            ? fmt::format("Above {} the call is refused ({}.precision).", kMaxPrecision, op_.name)
            : fmt::format("Never above {}.", kMaxPrecision));
  }

  void formula(string_view about, Formula f) { paragraph(fmt::format("{}: {}", about, f)); }

  void rules() {
    heading("RULES");
    const std::vector<OwnLabel> labels = own_labels(op_);
    paragraph(labels.empty() ? "None of its own; lockstep list --labels shows those of all."
                             : "In the order of judgement, after those that all operators share:");
    for (const OwnLabel& l : labels) entry(l.label, "", l.text);
  }

  void laws() {
    heading("LAWS");
    if (op_.laws.size() == 0) paragraph("None stated.");
    for (const LawInfo& law : op_.laws) entry(law.label, "", law.text);
  }

  void costs() {
    heading("GAS");
    paragraph(fmt::format("For each element of {}: {}. For each element of every tensor: {}.",
        op_.outputs[0].name, op_.gas_text, kGasPerElement));
    heading("IN PLACE");
    const char* giver = op_.inputs.size() == 1 ? "its input" : "input 0 or 1";
    paragraph(op_.in_place
            ? fmt::format(
                  "In a model the output may take the storage of {} at its last use.", giver)
            : "No: the output has a storage of its own.");
  }

  void errata() {
    heading("ERRATA");
    if (op_.errata.size() == 0) paragraph("None.");
    for (const Erratum& e : op_.errata) {
      const auto vector = evidence_.vector_of(e, &op_);
      const std::string shown = vector ? fmt::format("Shown by {}.", *vector)
          : e.test.empty()             ? "Its vector is not installed."
                                       : fmt::format("Shown by the test {}.", e.test);
      paragraph(e.text);
      paragraph(fmt::format("{} {}", e.reason, shown), kIndent + 4);
    }
  }

  void examples() {
    heading("EXAMPLES");
    for (int i = 0; i < op_.example_count; ++i) {
      const AnyExample e = op_.example(i);
      const Case c = example_case(op_, i);
      paragraph(e.text);
      // A case id is never broken, so that it can be copied as one word.
      out_ += fmt::format("{:{}}{}\n", "", kIndent + 4, case_id(c));
      for (const Literal& l : e.out)
        if (l.shape.size > 0)
          paragraph(fmt::format("= {}@{}  {}", fmt::join(l.shape, "x"), l.precision,
                        fmt::join(l.data, " ")),
              kIndent + 4);
      paragraph(fmt::format("gas {}", gas_of(op_, c.attributes(), c.types()).total()), kIndent + 4);
    }
  }

  void see_also() {
    std::string same;
    for (const OpInfo* other : operators())
      if (other->profile == op_.profile && other != &op_)
        same += fmt::format("{}{}", same.empty() ? "" : ", ", other->name);
    heading("SEE ALSO");
    paragraph(same + (same.empty() ? "" : "; ") + "lockstep repro, lockstep list --labels");
  }

  const OpInfo& op_;
  const Evidence& evidence_;
  const PageStyle style_;
  std::string out_;
};

}  // namespace

std::string operator_page(const OpInfo& op, const Evidence& evidence, const PageStyle& style) {
  return Page(op, evidence, style).text();
}

std::string filled_text(string_view text, int indent, int width) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::istringstream in{std::string(text)};
  std::string out, line;
  for (std::string word; in >> word;) {
    const auto columns = margin.size() + line.size() + 1 + word.size();
    if (!line.empty() && columns > static_cast<std::size_t>(width)) {
      out += margin + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return line.empty() ? out : out + margin + line + "\n";
}

}  // namespace lockstep::judge
