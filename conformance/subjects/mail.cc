#include "conformance/subjects/mail.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "conformance/cases/call_graph.h"
#include "conformance/host/heap.h"
#include "conformance/host/memory_file.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

constexpr u64 kLetters = round_up(sizeof(Channel), kPage);  // where letters begin
constexpr u64 kBeside = 256;  // bytes beside a tensor, in which small overruns show
constexpr u64 kEvery = 64;    // bytes, to which everything is aligned
constexpr u64 kPlaces = 16;   // where tensors that are not aligned begin, 8 bytes apart
constexpr i64 kFarAway = (i64{1} << 22) + 1;  // elements, beyond all padding

// Bounds a position that a host noted: a backend may have written any number there.
i64 bounded(i64 at) { return std::clamp(at, -static_cast<i64>(kArena), static_cast<i64>(kArena)); }

int place_of(const OpInfo& op) {
  const auto& all = operators();
  return static_cast<int>(std::find(all.begin(), all.end(), &op) - all.begin());
}

Slot type_slot(const Type& t) {
  Slot s;
  s.rank = std::min(t.rank(), kMaxRank + 1);
  s.precision = t.precision;
  i64 n = 1;
  for (int d = s.rank - 1; d >= 0; --d) {
    s.shape[d] = d < kMaxRank ? t.dim(d) : 1;
    s.stride[d] = n;
    // Saturates, because illegal extents must not overflow the judge's arithmetic.
    n = s.shape[d] > 0 && n <= kMaxVolume ? n * std::min(s.shape[d], kMaxExtent * 2) : n;
  }
  return s;
}

}  // namespace

// A host maps the mail once and the arena three times; neither takes memory before it is used.
std::string Mail::lack_of_addresses(u64 allowed) {
  constexpr u64 kLibraries = u64{1} << 30, kNeeded = kMail + 3 * kArena + kLibraries;
  if (allowed >= kNeeded) return "";
  return fmt::format(
      "a process that holds a backend needs {} KiB of addresses (ulimit -v allows {})",
      kNeeded >> 10, allowed >> 10);
}

Mail::Mail() {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);  // none is the greatest number
  if (const std::string lack = lack_of_addresses(limit.rlim_cur); !lack.empty())
    throw std::runtime_error(lack);
  file_ = memory_file(kMail);
  void* m = mmap(nullptr, kMail, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  if (m == MAP_FAILED) {
    close(file_);
    throw std::runtime_error("no memory to share with a backend");
  }
  shared_ = static_cast<char*>(m);
  new (shared_) Channel;
  clear();
}

Mail::~Mail() {
  munmap(shared_, kMail);
  close(file_);
}

void Mail::clear() {
  posted_.clear();
  used_ = steps_ = 0;
}

u64 Mail::allocate(u64 bytes) {
  const u64 at = used_;
  used_ = round_up(used_ + bytes, kEvery);
  if (kLetters + used_ > kMail) throw std::runtime_error("the tensors of a case exceed 8 GiB");
  if (sent_.size() < used_) sent_.resize(used_);
  return at;
}

void Mail::add(const Question& q) {
  const Case& c = *q.call;
  const bool runs = q.what == Question::execute;
  // Calls with more inputs are illegal, so that some of them say as much.
  constexpr std::size_t kMostTypes = kMaxSlots - kMaxOutputs;
  Posted p{.at = allocate(sizeof(Letter)),
      .one_by_one = q.graph && q.graph->one_by_one && runs,
      .inputs = runs ? q.callers[0]->size()
          : q.graph  ? 0
                     : std::min(c.in.size(), kMostTypes),
      .outputs = runs || q.graph || q.what == Question::tally
          ? static_cast<std::size_t>(q.outputs())
          : q.what == Question::refuse ? static_cast<std::size_t>(c.op->outputs.size())
                                       : 0,
      .callers = runs ? q.callers.size() : 1};
  const u64 slots = allocate(sizeof(Slot) * p.callers * (p.inputs + p.outputs));
  if (!runs) types_only(p, q, slots);
  for (std::size_t k = 0; runs && k < p.callers; ++k) lay_call(p, q, k);
  for (std::size_t k = 0; k < p.tensors.size(); ++k)
    sent<Slot>(slots + k * sizeof(Slot)) = p.tensors[k].slot;

  const u64 between = q.between ? post_between(*q.between) : 0;
  const u64 graph = q.graph ? post_graph(*q.graph, p) : 0;
  const u64 texts = q.texts ? post_texts(*q.texts) : 0;
  const u64 witness = q.what == Question::tally ? post_text(q.witness) : 0;
  Letter& letter = letter_of(c, p, slots);
  letter.what = static_cast<Letter::What>(q.what);
  letter.constants = q.run.constants;
  letter.runs = q.run.runs;
  letter.filler = q.run.filler;
  letter.plant = q.plant;
  letter.config = q.run.config;
  letter.between = between;
  letter.graph = graph;
  letter.texts = texts;
  letter.text_count = q.texts ? static_cast<int>(q.texts->size()) : 0;
  letter.witness = witness;
  letter.first = q.what == Question::tally ? static_cast<i64>(c.seed) : 0;
  if (!posted_.empty()) sent<Letter>(posted_.back().at).next = kLetters + p.at;
  for (const Placed& t : p.tensors) p.elements += volume(t.type.shape);
  if (q.what == Question::tally) p.elements = 2 * volume(c.in[0].shape);
  steps_ += static_cast<u64>(q.run.runs);
  posted_.push_back(std::move(p));
}

// Writes the call of a letter.
Letter& Mail::letter_of(const Case& c, const Posted& p, u64 slots) {
  Letter& letter = *new (&sent<Letter>(p.at)) Letter;
  letter.op = place_of(*c.op);
  letter.attr_count = static_cast<int>(c.attrs.size());
  letter.in_count = static_cast<int>(p.inputs);
  letter.out_count = static_cast<int>(p.outputs);
  letter.callers = static_cast<int>(p.callers);
  std::copy(c.attrs.begin(), c.attrs.end(), letter.attrs);
  letter.slots = kLetters + slots;
  return letter;
}

// Writes a legal call that is only prepared. @return where it stands
u64 Mail::post_between(const Case& c) {
  const Inferred out = c.op->infer(c.attributes(), c.types());
  const Posted p{.at = allocate(sizeof(Letter)),
      .inputs = c.in.size(),
      .outputs = static_cast<std::size_t>(out.count)};
  const u64 slots = allocate(sizeof(Slot) * (p.inputs + p.outputs));
  for (std::size_t k = 0; k < p.inputs + p.outputs; ++k)
    sent<Slot>(slots + k * sizeof(Slot)) =
        type_slot(k < p.inputs ? c.in[k] : out[static_cast<int>(k - p.inputs)]);
  letter_of(c, p, slots);
  return kLetters + p.at;
}

// Writes names and texts of attributes. @return where they stand
u64 Mail::post_texts(const AttrTexts& texts) {
  std::string all;
  for (const auto& [name, text] : texts)
    for (const std::string& s : {name, text}) {
      if (s.find('\0') != s.npos) throw std::runtime_error("a library is given no text with a NUL");
      all += s + '\0';
    }
  return post_text(all);
}

// Writes a text and a NUL. @return where it stands
u64 Mail::post_text(const std::string& text) {
  const u64 at = allocate(text.size() + 1);
  std::copy_n(text.c_str(), text.size() + 1, &sent<char>(at));
  return kLetters + at;
}

// Writes a graph, whose outer tensors are those of the letter. @return where it stands
u64 Mail::post_graph(const CallGraph& g, const Posted& p) {
  GraphLetter letter{
      static_cast<int>(g.nodes.size()), static_cast<int>(g.entries.size()), g.feeds, g.one_by_one};
  const auto post_numbers = [&](std::vector<int> all) {
    const u64 at = allocate(sizeof(int) * all.size());
    std::copy(all.begin(), all.end(), &sent<int>(at));
    return kLetters + at;
  };
  letter.heads = post_numbers(g.heads);
  const u64 entries = allocate(sizeof(Slot) * g.entries.size());
  for (std::size_t e = 0; e < g.entries.size(); ++e) {
    const auto head = std::find(g.heads.begin(), g.heads.end(), static_cast<int>(e));
    const std::size_t outer = e < p.inputs ? e
        : head != g.heads.end() ? p.inputs + static_cast<std::size_t>(head - g.heads.begin())
                                : p.tensors.size();
    sent<Slot>(entries + e * sizeof(Slot)) =
        outer < p.tensors.size() ? p.tensors[outer].slot : type_slot(g.entries[e].type);
  }
  const u64 nodes = allocate(sizeof(GraphNode) * g.nodes.size());
  for (std::size_t k = 0; k < g.nodes.size(); ++k) {
    const CallGraph::Node& n = g.nodes[k];
    std::vector<int> numbers = n.in;
    numbers.insert(numbers.end(), n.out.begin(), n.out.end());
    const u64 at = post_numbers(numbers);
    GraphNode& node = *new (&sent<GraphNode>(nodes + k * sizeof(GraphNode))) GraphNode;
    node = {place_of(*n.op), static_cast<int>(n.attrs.size()), static_cast<int>(n.in.size()),
        static_cast<int>(n.out.size()), {}, at};
    std::copy(n.attrs.begin(), n.attrs.end(), node.attrs);
  }
  letter.entries = kLetters + entries;
  letter.nodes = kLetters + nodes;
  const u64 at = allocate(sizeof(GraphLetter));
  sent<GraphLetter>(at) = letter;
  return kLetters + at;
}

i64 Mail::patience() const {
  const u64 begun = reinterpret_cast<const Channel*>(shared_)->begun;
  return patience_for(posted_[std::clamp<u64>(begun, 1, posted_.size()) - 1].elements);
}

void Mail::send() {
  std::memcpy(shared_ + kLetters, sent_.data(), used_);
  channel().letters = kLetters;
  channel().begun = 0;
  channel().runs = 0;
  channel().answered = 0;
}

// Where the tensors of a caller lie, inputs before outputs, all but the places of their images.
std::vector<Mail::Placed> Mail::placed(const Question& q, std::size_t caller) {
  const std::vector<Tensor>& in = *q.callers[caller];
  const u64 seed = q.call->seed;
  std::vector<Placed> all;
  for (std::size_t k = 0; k < in.size(); ++k) {
    const Type& t = in[k].type;
    const bool is_int8 = q.graph && q.graph->int8_constants &&
        std::cmp_greater_equal(k, q.graph->feeds) && t.precision <= 8;
    const Layout layout = is_int8 ? Layout::compact : q.run.layout;
    const Placement at = place_input(t, layout, seed, static_cast<int>(k));
    all.push_back(place(t, at, q.run.base, k, is_int8));
  }
  for (int k = 0; k < q.outputs(); ++k) {
    const Type& t = q.output(k);
    const auto number = static_cast<std::size_t>(k);
    // An entry has one layout.
    const auto same = q.graph ? same_tensor(*q.graph, number) : std::nullopt;
    const Placement at = same ? all[*same].at : place_output(t, q.run.layout, seed, k);
    all.push_back(place(t, at, q.run.base, in.size() + number));
  }
  return all;
}

std::vector<Slot> Mail::slots(const Question& q, std::size_t caller) {
  std::vector<Slot> all;
  for (const Placed& p : placed(q, caller)) all.push_back(p.slot);
  return all;
}

void Mail::lay_call(Posted& p, const Question& q, std::size_t caller) {
  const std::vector<Tensor>& in = *q.callers[caller];
  std::size_t k = 0;
  for (Placed& t : placed(q, caller)) {
    t.slot.image = kLetters + allocate(t.slot.bytes);
    write(t, k < in.size() ? &in[k].data : nullptr, q.run.filler, q.run.poison);
    p.tensors.push_back(t);
    ++k;
  }
}

void Mail::types_only(Posted& p, const Question& q, u64 slots) {
  const Case& c = *q.call;
  for (std::size_t k = 0; k < p.inputs; ++k)
    sent<Slot>(slots + k * sizeof(Slot)) = type_slot(c.in[k]);
  for (std::size_t k = p.inputs; k < p.inputs + p.outputs; ++k)
    sent<Slot>(slots + k * sizeof(Slot)) = type_slot(
        q.what == Question::tally ? q.output(static_cast<int>(k - p.inputs)) : guessed_output(c));
}

// @param number of the tensor in its call
Mail::Placed Mail::place(
    const Type& t, const Placement& at, Base base, std::size_t number, bool is_int8) {
  Placed p{{}, t, at};
  Slot& s = p.slot;
  s.rank = t.rank();
  s.precision = t.precision;
  s.is_int8 = is_int8;
  std::copy(t.shape.begin(), t.shape.end(), s.shape);
  std::copy(at.stride, at.stride + kMaxRank, s.stride);
  const u64 bytes = static_cast<u64>(at.allocated) * p.width();
  s.bytes = round_up(bytes + kBeside, kPage);
  const u64 first = base == Base::end ? s.bytes - bytes
      : base == Base::begin           ? 0
                                      : sizeof(i32) * (1 + 2 * (number % kPlaces));
  for (int d = 0; base == Base::unaligned && d < s.rank; ++d)
    if (s.shape[d] == 1) s.stride[d] = kFarAway;
  s.first = first + static_cast<u64>(at.offset) * p.width();
  return p;
}

void Mail::write(const Placed& p, const std::vector<i32>* values, i32 beside, i32 inside) {
  i32* const image = &sent<i32>(p.slot.image - kLetters);
  std::fill_n(image, p.slot.bytes / sizeof(i32), beside);
  if (p.slot.is_int8) {
    std::copy(values->begin(), values->end(), &sent<int8_t>(p.slot.image - kLetters + p.begin()));
    return;
  }
  i32* const e = image + p.begin() / sizeof(i32);
  if (!values) return for_each_address(p.type, p.at, [&](i64 at) { e[at] = inside; });
  const i32* value = values->data();
  for_each_address(p.type, p.at, [&](i64 at) { e[at] = *value++; });
}

const Reply& Mail::reply(std::size_t n) const {
  return reinterpret_cast<const Letter*>(shared_ + kLetters + posted_[n].at)->reply;
}

// Checks every field: the backend may have overwritten the reply.
Answers Mail::take(std::size_t n) {
  constexpr AnswerKind kKinds[] = {AnswerKind::ok, AnswerKind::logic_error,
      AnswerKind::runtime_error, AnswerKind::unsupported, AnswerKind::protocol};
  const Reply r = reply(n);
  const Posted& p = posted_[n];
  Answer a;
  a.kind = r.code >= 0 && r.code < static_cast<int>(std::size(kKinds)) ? kKinds[r.code]
                                                                       : AnswerKind::protocol;
  a.label = printable(text_in(r.label));
  a.message = printable(text_in(r.text));
  a.path = printable(text_in(r.path));
  a.threads = r.threads;
  a.unsteady = r.unsteady;
  a.changed_run = r.changed_run;
  if (r.beside_scratch) a.out_damage = "memory beside scratch memory was written";
  if (r.tallied) a.tally = r.tally;
  const i64 values = p.elements / 2;
  if (a.ok() && r.tallied &&
      (r.tally.wrong < 0 || r.tally.wrong > values || r.tally.place < -1 ||
          r.tally.place >= values || r.tally.beside < 0))
    a = {.kind = AnswerKind::protocol, .message = "no range of values has such a tally"};
  for (int k = 0; k < min(r.type_count, kMaxOutputs); ++k) {
    if (r.type[k].rank < 0 || r.type[k].rank > kMaxRank) continue;
    a.types.push_back({{r.type[k].shape, r.type[k].shape + r.type[k].rank}, r.type[k].precision});
  }
  if (a.ok() && r.one_by_one != p.one_by_one)
    a = {.kind = AnswerKind::protocol, .message = "a graph ran in another way"};
  Answers all(p.callers, a);
  for (std::size_t caller = 0; a.ok() && !p.tensors.empty() && caller < p.callers; ++caller) {
    const auto* tensors = p.tensors.data() + caller * (p.inputs + p.outputs);
    for (std::size_t k = 0; k < p.outputs; ++k)
      all[caller].out.push_back(collect(tensors[p.inputs + k]));
    note_damage(p, caller, r, all[caller]);
  }
  return all;
}

// Takes an output's elements, and restores in their places what was sent, so that changed() then
// finds only what else was written.
std::vector<i32> Mail::collect(const Placed& p) {
  std::vector<i32> values(static_cast<std::size_t>(volume(p.type.shape)));
  i32* value = values.data();
  const u64 begin = p.slot.image + p.begin();
  auto* e = reinterpret_cast<i32*>(shared_ + begin);
  const auto* old = &sent<i32>(begin - kLetters);
  for_each_address(p.type, p.at, [&](i64 at) {
    *value++ = e[at];
    e[at] = old[at];
  });
  return values;
}

// Whether the content of a tensor's memory changed; `at` receives the place of the first such byte.
bool Mail::changed(const Placed& p, i64& at) const {
  const char *before = sent_.data() + p.slot.image - kLetters, *after = shared_ + p.slot.image;
  if (std::memcmp(before, after, p.slot.bytes) == 0) return false;
  at = std::mismatch(before, before + p.slot.bytes, after).first - before;
  return true;
}

void Mail::note_damage(const Posted& p, std::size_t caller, const Reply& r, Answer& a) const {
  const std::size_t first = caller * (p.inputs + p.outputs);
  for (std::size_t k = 0; k < p.inputs + p.outputs; ++k) {
    const Placed& t = p.tensors[first + k];
    const bool input = k < p.inputs;
    std::string& damage = input ? a.in_damage : a.out_damage;
    i64 at = bounded(r.written_at);
    const bool noted = std::cmp_equal(r.written_slot, first + k);
    if (!damage.empty() || (!noted && !changed(t, at))) continue;
    damage = input ? "input " + std::to_string(k) + " was written, " + describe_input(t, at)
                   : "memory of output " + std::to_string(k - p.inputs) + " was written, " +
            describe_memory(t, at);
  }
}

std::string Mail::describe_memory(const Placed& p, i64 at) {
  const i64 first = static_cast<i64>(p.begin());
  const i64 width = static_cast<i64>(p.width()), last = first + p.at.allocated * width;
  if (at < first) return std::to_string(first - at) + " bytes before its memory";
  if (at >= last) return std::to_string(at - last) + " bytes after its memory";
  return "a padding cell, element " + std::to_string((at - first) / width - p.at.offset) +
      " from its first";
}

std::string Mail::describe_input(const Placed& p, i64 at) {
  const i64 first = static_cast<i64>(p.begin());
  const i64 k = (at - first) / static_cast<i64>(p.width());
  bool element = false;
  if (at >= first) for_each_address(p.type, p.at, [&](i64 a) { element = element || a == k; });
  return element ? "an element of it" : describe_memory(p, at);
}

void Mail::explain(std::size_t n, Answer& a) const {
  const Reply r = reply(n);
  const Posted& p = posted_[n];
  if (r.heap_fault) a.message += " touching " + heap::text({r.heap_bytes, r.heap_at});
  if (r.fault_slot < 0 || std::cmp_greater_equal(r.fault_slot, p.tensors.size())) return;
  const auto slot = static_cast<std::size_t>(r.fault_slot);
  const std::size_t k = slot % (p.inputs + p.outputs);
  const bool input = k < p.inputs;
  a.message += std::string(" touching memory of ") + (input ? "input " : "output ") +
      std::to_string(input ? k : k - p.inputs) + ", " +
      describe_memory(p.tensors[slot], bounded(r.fault_at));
  if (!input) a.out_damage = a.message;
}

}  // namespace lockstep::judge
