#include "conformance/run/watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "conformance/subjects/library_subject.h"
#include "conformance/trial/properties.h"

namespace lockstep::judge {
namespace {

// A fault, and how the answer must show it.
struct Canary {
  Plant plant;
  const Property* property;  // could not notice such a fault of a backend if this one is missed
  AnswerKind kind;
  const char* says = "";  // the message, or which memory was written
  bool (*shows)(const Answer&) = [](const Answer&) { return true; };
  std::size_t callers = 1;
  int runs = 1;
  i32 filler = 0;
};

bool shows_change(const Answer& a) { return a.changed_run > 0; }
bool shows_unsteady(const Answer& a) { return a.unsteady; }

constexpr char kStarts[] =
    "the backend's process was killed by SIGSYS, because it started a process too many";

constexpr char kFault[] = "the backend's process was killed by SIGSEGV";

// The last ones come last because they end the process.
constexpr Canary kCanaries[] = {{Plant::beside, &kWritesInBounds, AnswerKind::ok,
                                    "memory of output 0 was written, 4 bytes before its memory"},
    {Plant::input, &kInputsUntouched, AnswerKind::ok, "input 0 was written, an element of it"},
    {Plant::heap, &kWritesInBounds, AnswerKind::protocol,
        "it wrote byte 1 after a block of 100 bytes of its heap"},
    {Plant::under, &kWritesInBounds, AnswerKind::protocol,
        "it wrote byte 16 before a block of 100 bytes of its heap"},
    {Plant::freed, &kWritesInBounds, AnswerKind::protocol,
        "it wrote byte 0 of a block of 100 bytes of its heap that it had freed"},
    {Plant::scratch, &kWritesInBounds, AnswerKind::ok, "memory beside scratch memory was written"},
    {.plant = Plant::page,
        .property = &kWritesInBounds,
        .kind = AnswerKind::ok,
        .says = "memory beside scratch memory was written",
        .filler = 1},
    {Plant::ahead, &kWritesInBounds, AnswerKind::ok, "memory beside scratch memory was written"},
    {.plant = Plant::allocated,
        .property = &kWritesInBounds,
        .kind = AnswerKind::protocol,
        .says = "a block held 77, zeros 6000, kept 3000, usable 1, error 0 and 0, error 0 and 0, "
                "error 0 and 0, too many 1",
        .filler = 77},
    {.plant = Plant::filled,
        .property = &kDeterministic,
        .kind = AnswerKind::logic_error,
        .says = "scratch memory held 76 and 76, 0 bytes from a cache line",
        .filler = 76},
    {Plant::bounds, &kWritesInBounds, AnswerKind::protocol,
        "variables {2}, files 4, end by 9, signals blocked 0, core 0, memory {1}, group own, its "
        "keeper's own, rights 0, rights 0, no new ones 1, filter 2, opened again 0"},
    {Plant::arguments, &kReuse, AnswerKind::logic_error,
        "{4} constants, 0 of its arguments are left"},
    {Plant::late, &kWritesInBounds, AnswerKind::protocol,
        "it wrote to a tensor after execute() had returned"},
    {Plant::second_run, &kDeterministic, AnswerKind::ok, "", shows_change, 1, 2},
    {Plant::idle, &kDeterministic, AnswerKind::ok, "", shows_change, 1, 2},
    {Plant::later_run, &kReuse, AnswerKind::ok, "", shows_change, 2, 4},
    {.plant = Plant::turns,
        .property = &kReuse,
        .kind = AnswerKind::logic_error,
        .says = "inputs shared memory in runs 1 3 5 7, outputs were put back before 1 3 4 7 8, "
                "another plan left out 0",
        .callers = 2,
        .runs = 8},
    {Plant::later_run, &kConcurrent, AnswerKind::ok, "", shows_unsteady, 2, 1},
    {Plant::beyond, &kWritesInBounds, AnswerKind::crashed,
        "the backend's process was killed by SIGSEGV touching memory of output 0, {} bytes after "
        "its memory"},
    {Plant::before, &kWritesInBounds, AnswerKind::crashed,
        "the backend's process was killed by SIGSEGV touching memory of output 0, 4096 bytes "
        "before its memory"},
    {Plant::stale, &kWritesInBounds, AnswerKind::crashed,
        "the backend's process was killed by SIGSEGV touching memory of output {6}, {5} bytes "
        "after its memory"},
    {Plant::past_input, &kInputsUntouched, AnswerKind::crashed,
        "the backend's process was killed by SIGSEGV touching memory of input 0, {3} bytes after "
        "its memory"},
    {Plant::page, &kWritesInBounds, AnswerKind::crashed, kFault},
    {Plant::raising, &kWritesInBounds, AnswerKind::crashed, kFault},
    {Plant::starting, &kCloses, AnswerKind::crashed, kStarts},
    {Plant::renumbered, &kCloses, AnswerKind::crashed, kStarts},
    {Plant::exiting, &kCloses, AnswerKind::crashed, "the backend's process exited with status 3"},
    {Plant::together, &kCloses, AnswerKind::crashed,
        "the backend's process was killed by SIGABRT after other calls, and not when it was asked "
        "alone"},
    {Plant::freed_twice, &kWritesInBounds, AnswerKind::crashed,
        "the backend's process was killed by SIGABRT"},
    {Plant::uncounted, &kWritesInBounds, AnswerKind::broken_channel,
        "it wrote over the number of its answers"},
    {Plant::hanging, &kDeterministic, AnswerKind::timed_out, "no answer within the time limit"},
    {Plant::leaving, &kCloses, AnswerKind::crashed, "2 processes and it: was killed by SIGTERM"},
    {Plant::orphaning, &kCloses, AnswerKind::crashed, "2 processes and it: was killed by SIGKILL"},
    {Plant::closing, &kCloses, AnswerKind::crashed, "the backend's process was killed by SIGABRT"}};

// How many variables a backend's environment has: all but those of this program.
std::size_t variables() {
  std::size_t n = 0;
  for (char** e = environ; *e; ++e) {
    const std::string_view entry = *e;
    n += !entry.starts_with("LOCKSTEP_") && !entry.starts_with("_=");
  }
  return n;
}

// How an answer shows a fault. A backend that has ended the program that holds it hides how it ends
// itself.
enum class Noticed { no, hidden, yes };

// Whether an answer to this call shows the fault in the words that a report would give.
Noticed noticed(const Canary& canary, const Case& c, const Answer& a, double memory_gib) {
  if (a.kind != canary.kind || !canary.shows(a)) return Noticed::no;
  constexpr int kBitsOfGib = 30;
  const auto behind = [](const Type& t) {
    return static_cast<i64>(kPage) - volume(t.shape) * static_cast<i64>(sizeof(i32));
  };
  const std::string& told = !a.message.empty() ? a.message
      : !a.in_damage.empty()                   ? a.in_damage
                                               : a.out_damage;
  const Inferred out = c.op->infer(c.attributes(), c.types());
  const u64 stale = span_of(0) * (c.in.size() + static_cast<std::size_t>(out.count)) - 1;
  const std::string said = fmt::format(fmt::runtime(canary.says), behind(out[0]),
      static_cast<u64>(std::ldexp(memory_gib, kBitsOfGib)), variables(), behind(c.in[0]),
      c.in.size() - 1, stale, out.count - 1);
  if (told == said) return Noticed::yes;
  constexpr std::string_view kProcess = "the backend's process ";
  const std::size_t place = std::min(said.find(" touching "), said.find(" after other "));
  const std::string hidden = std::string(kProcess) + "was killed by SIGKILL" +
      (place == said.npos ? "" : said.substr(place));
  return said.starts_with(kProcess) && told == hidden ? Noticed::hidden : Noticed::no;
}

// A call whose first output is so small that a page behind it lies beyond its memory.
bool is_small(const Item* i) {
  constexpr i64 kMostElements = 256;
  return i->runs() && elements_of(i->call) <= kMostElements;
}

bool is_pair(const Item* i) {
  return is_small(i) && i->call.in.size() > 1 && i->call.in[0] == i->call.in[1];
}

// A call whose first output has more than a page.
bool has_large_output(const Item* i) {
  if (!i->runs()) return false;
  const Inferred out = i->call.op->infer(i->call.attributes(), i->call.types());
  return static_cast<u64>(volume(out[0].shape)) > kPage / sizeof(i32);
}

bool has_attributes(const Item* i) { return is_small(i) && !i->call.attrs.empty(); }

// Whether a sanitizer's heap, with guards of its own, takes the place of the guarded heap.
bool is_elsewhere(const Canary& c) {
  return ndarray::kInstrumented &&
      (c.plant == Plant::heap || c.plant == Plant::under || c.plant == Plant::freed ||
          c.plant == Plant::freed_twice || c.plant == Plant::allocated);
}

// Whether its process leaves others behind. A program that ends before cannot end them.
bool leaves_others(const Canary& c) {
  return c.plant == Plant::leaving || c.plant == Plant::orphaning;
}

// The answers to calls in which a fault is planted. What it leaves behind must not hide the next
// one, so it is planted twice where the process lives on.
std::vector<Answers> answers(Subject& subject, const Case& c, const Canary& canary) {
  if (canary.plant == Plant::closing)
    return subject.ask({{.what = Question::close, .call = &c, .plant = canary.plant}});
  if (leaves_others(canary))
    return {
        {{.kind = canary.kind, .message = subject.end_leaving(canary.plant == Plant::orphaning)}}};
  const std::vector<Tensor> in = inputs_of(c);
  const bool lives = canary.kind == AnswerKind::ok || canary.kind == AnswerKind::logic_error ||
      canary.kind == AnswerKind::protocol || canary.plant == Plant::together;
  std::vector<Question> questions(lives ? 2 : 1,
      {.call = &c,
          .callers = std::vector<const std::vector<Tensor>*>(canary.callers, &in),
          .between = canary.plant == Plant::turns ? &c : nullptr,
          .out = c.op->infer(c.attributes(), c.types()),
          .run = {.poison = kPoison,
              .filler = canary.filler,
              .constants = canary.plant == Plant::arguments,
              .runs = canary.runs},
          .plant = canary.plant});
  questions.back().trial = questions.size();  // is asked whatever the first one does
  return subject.ask(questions);
}

// Whether the call is answered if no fault is planted. Tries twice, since an idle process may be
// gone.
bool is_answered(Subject& subject, const Case& c) {
  constexpr Canary kNone{Plant::none, nullptr, AnswerKind::ok};
  return answers(subject, c, kNone)[1][0].ok() || answers(subject, c, kNone)[1][0].ok();
}

// Calls in which faults are planted; nullptr: there is none.
struct Calls {
  const Case *any, *pair, *with_attributes;
  const Case *large, *beside_large;  // with as many inputs
  const Case* of(Plant p) const {
    return p == Plant::turns                       ? pair
        : p == Plant::arguments && with_attributes ? with_attributes
        : p == Plant::before && beside_large       ? beside_large
                                                   : any;
  }
};

void plant_all(Report& r, Subject& subject, const Calls& calls, double memory_gib) {
  if (!is_answered(subject, *calls.any)) return;
  bool hides_ends = false;
  for (const Canary& canary : kCanaries) {
    if (hides_ends && leaves_others(canary)) continue;
    const Case* const c = calls.of(canary.plant);
    if (!c || !is_meant(*canary.property, r.chosen.properties) || is_elsewhere(canary)) continue;
    // The memory of larger tensors that a process had before must be guarded again.
    if (canary.plant == Plant::before && calls.beside_large) is_answered(subject, *calls.large);
    // So must that of more callers.
    constexpr Canary kMoreCallers{
        .plant = Plant::none, .property = nullptr, .kind = AnswerKind::ok, .callers = 2};
    if (canary.plant == Plant::stale) answers(subject, *c, kMoreCallers);
    std::vector<Answers> all = answers(subject, *c, canary);
    if (all[0].empty()) continue;
    // One timeout on a slow machine does not mean that the fault went unnoticed.
    const AnswerKind kind = all.back()[0].kind;
    if (kind == AnswerKind::timed_out && canary.kind != kind) all = answers(subject, *c, canary);
    Canaries& of = r.canaries[std::string(canary.property->name)];
    ++of.planted;
    const auto first = canary.plant == Plant::together ? all.end() - 1 : all.begin();
    of.noticed += std::all_of(first, all.end(), [&](const Answers& callers) {
      Noticed best = Noticed::no;
      for (const Answer& a : callers) best = std::max(best, noticed(canary, *c, a, memory_gib));
      hides_ends = hides_ends || best == Noticed::hidden;
      return best != Noticed::no;
    });
  }
}

}  // namespace

void plant_in_process(
    Report& r, Subject& subject, const std::vector<const Item*>& put, const Limits& limits) {
  const auto call = [&](const auto& is_fit) {
    const auto item = std::find_if(put.begin(), put.end(), is_fit);
    return item == put.end() ? nullptr : &(*item)->call;
  };
  const Case* const large = call(has_large_output);
  const auto is_beside_large = [&](const Item* i) {
    return is_small(i) && large && i->call.in.size() == large->in.size();
  };
  const Calls calls{
      call(is_small), call(is_pair), call(has_attributes), large, call(is_beside_large)};
  if (!subject.can_plant() || r.counts.passed < r.counts.executed || !calls.any) return;
  try {
    plant_all(r, subject, calls, limits.memory_gib);
  } catch (const LoadCrash&) {
    // The library crashes while it is loaded once more. The property `closes` reports that.
  }
}

}  // namespace lockstep::judge
