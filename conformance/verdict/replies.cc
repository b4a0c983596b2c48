#include "conformance/verdict/replies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "conformance/subjects/mail.h"
#include "spec/operators.h"

namespace lockstep::judge {
namespace {

void copy_text(auto& to, const std::string& from) {
  std::copy_n(from.c_str(), std::min(sizeof to, from.size() + 1), to);
}

// A place among the elements of a tensor or near them, or far from its memory.
i64 draw_place(Seeded& draw, const Slot& s) {
  constexpr i64 kNear = 40, kSeldom = 15;
  if (draw(0, kSeldom) == 0) return draw(0, 1) == 0 ? INT64_MIN : INT64_MAX;
  return static_cast<i64>(s.first) + draw(-kNear, kNear);
}

// Fills every field of a reply, also with what no host would write.
void draw_reply(Seeded& draw, Reply& r, const Slot* slots, int tensors) {
  if (draw(0, 3) == 0) r.code = static_cast<int>(draw(-1, kBroken + 1));
  copy_text(r.label, draw(0, 1) == 0 ? "a.label" : std::string(sizeof r.label, 'l'));
  copy_text(r.text, draw(0, 1) == 0 ? "why\tnot" : std::string(sizeof r.text, 't'));
  copy_text(r.path, draw(0, 1) == 0 ? "a kernel" : std::string(sizeof r.path, 'p'));
  r.threads = draw(-1, 4);
  r.unsteady = draw(0, 1) == 0;
  r.one_by_one = draw(0, 1) == 0;
  r.changed_run = static_cast<int>(draw(0, 3));
  r.type_count = static_cast<int>(draw(-1, kMaxOutputs + 1));
  for (auto& type : r.type) {
    type.rank = static_cast<int>(draw(-1, kMaxRank + 1));
    type.precision = static_cast<int>(draw(0, 40));
    for (i64& extent : type.shape) extent = draw(0, 9);
  }
  r.beside_scratch = draw(0, 3) == 0;
  r.heap_fault = draw(0, 1) == 0;
  r.heap_bytes = static_cast<u64>(draw(0, 100));
  r.heap_at = draw(-100, 200);
  if (tensors == 0) return;
  r.written_slot = static_cast<int>(draw(-1, tensors));
  r.written_at = draw_place(draw, slots[draw(0, tensors - 1)]);
  r.fault_slot = static_cast<int>(draw(-1, tensors));
  r.fault_at = draw_place(draw, slots[draw(0, tensors - 1)]);
}

// Other than its place, the name of an operator does not change when another one is added.
string_view name_of(int place) {
  const auto& all = operators();
  return place < static_cast<int>(all.size()) ? all[static_cast<std::size_t>(place)]->name : "none";
}

std::string text_of(std::span<const Attr> attrs) {
  std::string s;
  for (const Attr& a : attrs)
    s += fmt::format(" {}{} {}", static_cast<int>(a.kind), a.none ? " none" : "",
        fmt::join(a.ints.begin(), a.ints.end(), ","));
  return s;
}

std::string text_of(std::span<const Slot> slots) {
  std::string s;
  for (const Slot& t : slots) s += "\n" + text_of(t);
  return s + "\n";
}

std::string text_of(const GraphLetter& g, const char* shared) {
  const auto numbers = [&](u64 at, int count) {
    const int* all = reinterpret_cast<const int*>(shared + at);
    return std::vector<int>(all, all + count);
  };
  std::string s = fmt::format("{} {}", g.feed_count, g.one_by_one);
  const auto* nodes = reinterpret_cast<const GraphNode*>(shared + g.nodes);
  for (const GraphNode& n : std::span(nodes, static_cast<std::size_t>(g.node_count)))
    s += fmt::format("\n{} {} {}", name_of(n.op), n.in_count,
             fmt::join(numbers(n.entries, n.in_count + n.out_count), ",")) +
        text_of({n.attrs, static_cast<std::size_t>(n.attr_count)});
  const auto* entries = reinterpret_cast<const Slot*>(shared + g.entries);
  return s + text_of({entries, static_cast<std::size_t>(g.entry_count)});
}

// A letter as a host reads it, all but the content of its tensors.
std::string text_of(const Letter& l, const char* shared) {
  std::string s = fmt::format("{} {} {} {} {} {} {} {}", static_cast<int>(l.what), name_of(l.op),
                      l.constants, l.callers, l.runs, l.filler, l.config, l.in_count) +
      text_of({l.attrs, static_cast<std::size_t>(l.attr_count)});
  const auto* slots = reinterpret_cast<const Slot*>(shared + l.slots);
  s += text_of({slots, static_cast<std::size_t>(l.callers * l.tensors())});
  if (l.between != 0) s += text_of(*reinterpret_cast<const Letter*>(shared + l.between), shared);
  if (l.graph != 0) s += text_of(*reinterpret_cast<const GraphLetter*>(shared + l.graph), shared);
  const char* text = shared + l.texts;
  for (int k = 0; k < 2 * l.text_count; ++k, text += std::char_traits<char>::length(text) + 1)
    s += fmt::format("'{}' ", text);
  return s;
}

std::string text_of(const Answer& a) {
  std::string s = fmt::format("{} '{}' '{}' '{}' {} {} {} '{}' '{}'", static_cast<int>(a.kind),
      a.label, a.message, a.path, a.threads, a.unsteady, a.changed_run, a.out_damage, a.in_damage);
  for (const std::vector<i32>& values : a.out) s += fmt::format(" [{}]", fmt::join(values, ","));
  for (const TensorType& t : a.types)
    s += fmt::format(" {}@{}", fmt::join(t.shape, "x"), t.precision);
  return s + "\n";
}

}  // namespace

std::string text_of(const Slot& s) {
  std::string text = fmt::format(
      "{} {}{} {} {}:", s.rank, s.precision, s.is_int8 ? " int8" : "", s.bytes, s.first);
  for (int d = 0; d < s.rank; ++d) text += fmt::format(" {} by {}", s.shape[d], s.stride[d]);
  return text;
}

std::string read_back(std::vector<Question> questions, u64 number) {
  Mail mail;
  for (Question& q : questions) {
    q.run.poison = 1;  // the real one is drawn anew in each process
    mail.add(q);
  }
  mail.send();
  auto* const shared = reinterpret_cast<char*>(&mail.channel());
  std::string read;
  std::size_t n = 0;
  for (u64 at = mail.channel().letters; at != 0; ++n) {
    auto& letter = *reinterpret_cast<Letter*>(shared + at);
    const auto* slots = reinterpret_cast<const Slot*>(shared + letter.slots);
    const int tensors = questions[n].callers.empty() ? 0 : letter.tensors() * letter.callers;
    read += text_of(letter, shared);
    Seeded draw(word(questions[n].call->seed, number, n));
    draw_reply(draw, letter.reply, slots, tensors);
    for (const Slot& s : std::span(slots, static_cast<std::size_t>(tensors)))
      if (draw(0, 3) == 0)
        shared[s.image +
            static_cast<u64>(clamp(draw_place(draw, s), i64{0}, static_cast<i64>(s.bytes) - 1))] ^=
            1;
    at = letter.next;
  }
  for (u64 begun = 0; begun <= n + 1; ++begun) {
    mail.channel().begun = begun;
    read += fmt::format("patience {} of {}\n", mail.patience(), mail.steps());
  }
  for (n = 0; n < questions.size(); ++n) {
    for (const Answer& a : mail.take(n)) read += text_of(a);
    Answer end{.kind = AnswerKind::crashed};
    mail.explain(n, end);
    read += text_of(end);
  }
  for (int bit = 30; bit <= 64; ++bit)
    read += Mail::lack_of_addresses(bit < 64 ? u64{1} << bit : ~u64{0});
  return read;
}

}  // namespace lockstep::judge
