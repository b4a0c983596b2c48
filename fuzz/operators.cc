// Bytes as choices: a call of an operator, legal or not, its values and memory.
//
// The linked backend must pass every property of the judge, with every instruction set, several
// threads, constants and layouts, and in graphs around the call, under sanitizers.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "conformance/trial/properties.h"
#include "fuzz/direct_subject.h"
#include "fuzz/operator_case.h"
#include "fuzz/target.h"

namespace lockstep::judge {
namespace {

using fuzz::DirectSubject;
using fuzz::violated;

// The system under test and the ways to run it.
struct Rig {
  std::unique_ptr<DirectSubject> subject;
  TrialPlan plan;
  std::string repeat;  // the command that repeats a case, without the case
};

bool has(const std::vector<std::string>& all, const char* one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// The base run uses one thread, so that a stack trace shows the caller; the others use three.
Rig assemble() {
  const client::Library library(lockstep_backend_v1());
  const Manifest manifest = parse_manifest(library.manifest());
  const bool threads = has(manifest.options, "threads");
  Options set;
  if (threads) set["threads"] = "1";
  // The mutant of a wrong backend.
  if (const char* mutant = std::getenv("LOCKSTEP_MUTANT")) set["mutant"] = mutant;
  Rig rig{std::make_unique<DirectSubject>(library, set), {}, "lockstep repro " + manifest.name};
  for (const auto& [key, value] : set)
    if (key != "threads") rig.repeat += " --set " + key + "=" + value;
  rig.plan = plan_for(*rig.subject, {});
  // Threads are judged together with instruction sets.
  std::erase_if(rig.plan.ways, [](const TrialPlan::Way& w) { return w.property == &kThreads; });
  const auto isa_way = std::find_if(rig.plan.ways.begin(), rig.plan.ways.end(),
      [](const TrialPlan::Way& w) { return w.property == &kIsa; });
  isa_way->forced.clear();
  std::vector<std::string> isas;
  for (const KernelInfo& k : manifest.kernels)
    if (k.runnable && has(manifest.options, "isa") && !has(isas, k.isa.c_str()))
      isas.push_back(k.isa);
  for (const std::string& isa : isas) {
    Options options{{"isa", isa}};
    if (threads) options["threads"] = "3";
    isa_way->forced.push_back({"isa", isa, rig.subject->configure(options)});
  }
  return rig;
}

void judge_item(Rig& rig, const Item& item) {
  const Trial trial = perform(*rig.subject, item, rig.plan);
  for (const Property* p : kProperties) {
    if (!p->holds_something_of(trial)) continue;
    if (const std::optional<Finding> f = p->inspect(trial, p->seen_in(trial)))
      violated(std::string(p->name) + " does not hold\n  case    " + item.id + "\n  shows   " +
          f->text + "\n  repeat  " + rig.repeat + " '" + item.id + "'");
  }
}

// Judges the case that the bytes make. @return whether there is one
bool judge_bytes(std::span<const std::uint8_t> bytes) {
  static Rig rig = assemble();
  Bytes draw(bytes);
  Item item;
  item.call = fuzz::draw_operator_case(draw);
  const Case& c = item.call;
  const Refusal r = refusal(c);
  // The parser of attributes would refuse values outside their ranges.
  if (r.scope == "attr") return false;
  if (r.refused()) {
    item.what = Item::illegal;
    item.label = r.label();
  } else if (fuzz::work(c.types(), c.op->infer(c.attributes(), c.types())) > fuzz::kMaxWork) {
    return false;
  }
  item.id = case_id(c);
  judge_item(rig, item);
  return true;
}

}  // namespace
}  // namespace lockstep::judge

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return lockstep::judge::judge_bytes({data, size}) ? 0 : -1;
}
