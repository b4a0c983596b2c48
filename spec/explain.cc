#include "spec/explain.h"

#include "spec/text.h"

namespace lockstep {
namespace {

std::string text(Types in) {
  std::string t;
  for (const Type& x : in)
    t += (t.empty() ? "" : ", ") + shape_text(x.shape) + " of precision " +
        std::to_string(x.precision);
  return t;
}

std::string explain_input(const Refusal& why, Types in) {
  const Type& x = in[why.which];
  const std::string which = "input " + std::to_string(why.which);
  if (why.word == "rank") return which + " has rank " + std::to_string(x.rank());
  if (why.word == "precision")
    return which + " has precision " + std::to_string(x.precision) + ", outside 1..32";
  return which + " has shape " + shape_text(x.shape) +
      (why.word == "volume" ? ", more than 2^30 elements" : ", an extent outside 1..2^24");
}

}  // namespace

std::vector<OwnLabel> own_labels(const OpInfo& op) {
  const std::string scope = std::string(op.name) + ".";
  std::vector<OwnLabel> labels;
  for (const RuleInfo& r : op.rules) labels.push_back({scope + std::string(r.label), r.text});
  if (op.exceeds & kShape)
    labels.push_back({scope + "shape", "the output lies inside the limits of shapes"});
  if (op.exceeds & kPrecision)
    labels.push_back({scope + "precision", "the inferred precision is at most 32"});
  return labels;
}

std::string explain(const OpInfo& op, const Refusal& why, Attributes attrs, Types in) {
  const std::string name(op.name);
  if (why.scope == "attr")
    return name + ": attribute '" + std::string(op.attrs[why.which].name) +
        "' has an illegal value (" + std::string(why.word) + ")";
  if (why.is("op", "inputs"))
    return name + ": " + std::to_string(in.size()) + " inputs given, " +
        (op.inputs_needed(attrs) < 0 ? "1 to 1024" : std::to_string(op.inputs_needed(attrs))) +
        " needed";
  if (why.is("input", "value"))
    return name + ": input " + std::to_string(why.which) +
        " has a value outside its declared precision";
  if (why.scope == "input") return name + ": " + explain_input(why, in);
  if (why.word == "shape" || why.word == "precision")
    return name + ": output " + std::to_string(why.which) + " would have an illegal " +
        std::string(why.word) + " for inputs " + text(in);
  return name + ": required is that " + std::string(op.rules[why.which].text) + "; inputs " +
      text(in);
}

}  // namespace lockstep
