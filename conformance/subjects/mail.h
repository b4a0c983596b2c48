/// @file
/// The judge's side of the memory that it shares with backend-host.
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "conformance/cases/layout.h"
#include "conformance/host/channel.h"
#include "conformance/subjects/subject.h"

namespace lockstep::judge {

/// A text in the shared memory, which may have no end.
template <std::size_t N> std::string text_in(const char (&s)[N]) { return {s, strnlen(s, N)}; }

/// How long to wait for a host, in parts of the limit for an answer: as long as it goes on, step
/// after step, in time; but not for ever, since a backend can count runs that it does not begin.
class Wait {
 public:
  static constexpr i64 kParts = 4;
  /// Notes a part of the limit in which no answer came. @return whether to wait for another one
  /// @param patience how many times the limit applies
  /// @param steps that the host has begun, of `most`
  bool goes_on(i64 patience, u64 steps, u64 most) {
    constexpr i64 kInAll = 10;  // times as long as for one step
    ++quiet_;
    if (steps > before_ && steps <= most) before_ = steps, quiet_ = 0;
    return quiet_ < kParts * patience && ++all_ < kInAll * kParts * patience;
  }

 private:
  u64 before_ = 1;
  i64 quiet_ = 0, all_ = 0;
};

/// Lays questions into letters and reads the answers. What was sent is kept in memory of the
/// judge's own: by the time an answer is read, a backend may have overwritten the shared one.
class Mail {
 public:
  /// @throws std::runtime_error if there is no such memory.
  Mail();
  Mail(const Mail&) = delete;
  ~Mail();
  /// What to say where a process may have so few bytes of addresses; empty if these are enough.
  static std::string lack_of_addresses(u64 allowed);
  int file() const { return file_; }
  Channel& channel() { return *reinterpret_cast<Channel*>(shared_); }

  /// Drops all letters.
  void clear();
  /// Whether another letter should go with those that are there.
  bool has_room() const { return used_ < kRoom; }
  void add(const Question& q);
  /// How a caller's tensors are laid for the host, inputs before outputs; `image` is unset.
  static std::vector<Slot> slots(const Question& q, std::size_t caller);
  std::size_t letters() const { return posted_.size(); }
  /// The number of steps by which the host can show that it is at work: letters, and runs of plans
  /// after the first.
  u64 steps() const { return steps_; }
  /// patience_for() of the letter that the host began last.
  i64 patience() const;
  /// Makes the letters visible to the host.
  void send();

  /// The answer to letter `n`, one for each caller.
  Answers take(std::size_t n);
  /// Adds to the answer of a process that died, or to all answers of a letter, what the host noted.
  void explain(std::size_t n, Answer& a) const;

 private:
  // More letters would leave the caches before the host reads them.
  static constexpr u64 kRoom = u64{1} << 19;

  // A tensor in its memory, as it was sent.
  struct Placed {
    Slot slot;
    Type type;
    Placement at;
    u64 width() const { return slot.is_int8 ? 1 : sizeof(i32); }  // of an element, in bytes
    u64 begin() const { return slot.first - static_cast<u64>(at.offset) * width(); }
  };
  struct Posted {
    u64 at = 0;               // where the letter stands
    bool one_by_one = false;  // whether it is to run the calls of a graph
    std::size_t inputs = 0, outputs = 0, callers = 1;
    i64 elements = 0;                  // of all tensors
    std::vector<Placed> tensors = {};  // of each caller in turn: inputs, outputs; none: only types
  };

  template <class T> T& sent(u64 at) { return *reinterpret_cast<T*>(sent_.data() + at); }
  const Reply& reply(std::size_t n) const;
  u64 allocate(u64 bytes);
  static Placed place(
      const Type& t, const Placement& at, Base base, std::size_t number, bool is_int8 = false);
  static std::vector<Placed> placed(const Question& q, std::size_t caller);
  void lay_call(Posted& p, const Question& q, std::size_t caller);
  void write(const Placed& p, const std::vector<i32>* values, i32 beside, i32 inside);
  void types_only(Posted& p, const Question& q, u64 slots);
  Letter& letter_of(const Case& c, const Posted& p, u64 slots);
  u64 post_between(const Case& c);
  u64 post_texts(const AttrTexts& texts);
  u64 post_text(const std::string& text);
  u64 post_graph(const CallGraph& g, const Posted& p);
  bool changed(const Placed& p, i64& at) const;
  std::vector<i32> collect(const Placed& p);
  void note_damage(const Posted& p, std::size_t caller, const Reply& r, Answer& a) const;
  static std::string describe_memory(const Placed& p, i64 at);
  static std::string describe_input(const Placed& p, i64 at);

  int file_ = -1;
  char* shared_ = nullptr;
  std::vector<char> sent_;  // what stands in the shared memory from 0 to used_
  u64 used_ = 0, steps_ = 0;
  std::vector<Posted> posted_;
};

}  // namespace lockstep::judge
