#include "conformance/verdict/replies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "conformance/subjects/mail.h"

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

std::string text_of(const Answer& a) {
  std::string s = fmt::format("{} '{}' '{}' '{}' {} {} {} '{}' '{}'", static_cast<int>(a.kind),
      a.label, a.message, a.path, a.threads, a.unsteady, a.changed_run, a.out_damage, a.in_damage);
  for (const std::vector<i32>& values : a.out) s += fmt::format(" [{}]", fmt::join(values, ","));
  for (const TensorType& t : a.types)
    s += fmt::format(" {}@{}", fmt::join(t.shape, "x"), t.precision);
  return s + "\n";
}

}  // namespace

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
    Seeded draw(word(questions[n].call->seed, number, n));
    draw_reply(draw, letter.reply, slots, tensors);
    for (const Slot& s : std::span(slots, static_cast<std::size_t>(tensors)))
      if (draw(0, 3) == 0)
        shared[s.image +
            static_cast<u64>(clamp(draw_place(draw, s), i64{0}, static_cast<i64>(s.bytes) - 1))] ^=
            1;
    at = letter.next;
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
