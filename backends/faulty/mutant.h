/// @file
/// A mutant: an otherwise right backend with one believable mistake.
#pragma once
#include <memory>
#include <type_traits>
#include <vector>

#include "backends/bridge.h"

namespace lockstep::faulty {

using backend::Call;
using backend::LegalCall;
using backend::TensorType;

using In = Span<CheckedView>;
using Results = Span<CheckedOut>;

/// Mistakes of a compiler of graphs.
struct GraphHabits {
  bool narrows = false;           ///< results between calls are kept in 8 bits
  bool frees_early = false;       ///< memory of a result is free after its first reader
  bool keeps_read_heads = false;  ///< a head that a call reads, too, is not written
  bool holds_two_heads = false;   ///< heads after the second are not written
  bool trusts_calls = false;      ///< illegal calls are left out instead of refused
  bool drops_signs = false;       ///< constants of int8 are read as uint8
};

/// The right behaviour of a backend; a contract mutant overrides one function.
class Behaviour {
 public:
  virtual ~Behaviour() = default;
  /// Checks and prepares a call. @throws LogicError, Unsupported
  virtual LegalCall prepare(const Call& call) { return backend::legal_call(call); }
  /// The types of a call's outputs. @throws LogicError
  virtual std::vector<TensorType> infer(const Call& call) { return backend::inferred_types(call); }
  virtual void execute(const LegalCall& call, const i32* const* in, i32* const* out) const;
  /// Run number `run` of a plan, from 1.
  virtual void execute_run(
      const LegalCall& call, const i32* const* in, i32* const* out, i64 /*run*/) const {
    execute(call, in, out);
  }
  virtual const char* path() const { return wide ? "wide" : "specification"; }
  /// The scratch memory of each run; use() is what a run does with it besides the execution.
  virtual i64 scratch_bytes() const { return 0; }
  virtual void use(void* /*scratch*/) const {}
  /// Is called when the backend is closed.
  virtual void close() {}
  /// The number of threads that it reports, although one thread does all work.
  virtual int reported_threads() const { return threads; }
  int threads = 1;
  GraphHabits graph;  ///< of compiled graphs, whose calls are right
  bool wide = false;  ///< whether the kernel of the other instruction set is to run
  bool isa_is_chosen = false;
};

/// A row of the table of mutants. `op` is "*" for a contract mutant. `kind` is a bug type of golden
/// vectors, INFER or CONTRACT; CRASH and HANG mark mutants that end or block their process, RACE
/// those that are wrong only for several callers at once, SCALE those that are wrong only for large
/// calls or late runs of a plan, WAY those that are wrong only in one way of being called.
struct Mutant {
  string_view name, op, kind, provenance;
  /// The wrong meaning of `op`, for a mistake in its values.
  void (*evaluate)(Attributes, In, Results) = nullptr;
  /// The wrong behaviour, for a mistake in anything else.
  std::unique_ptr<Behaviour> (*make)() = nullptr;
  /// The lowest tier whose cases reach the mistake.
  int tier = 0;

  std::unique_ptr<Behaviour> behaviour() const;
  bool answers() const { return kind != "CRASH" && kind != "HANG"; }
};

/// The mutants of a family.
Span<Mutant> unary_mutants();
Span<Mutant> pair_mutants();
Span<Mutant> reduce_mutants();
Span<Mutant> nn_mutants();
Span<Mutant> xform_mutants();
Span<Mutant> index_mutants();
Span<Mutant> detect_mutants();
Span<Mutant> infer_mutants();
Span<Mutant> contract_mutants();
Span<Mutant> scale_mutants();
Span<Mutant> way_mutants();

/// All mutants, in that order.
const std::vector<Mutant>& mutants();

/// The mutant of this name, or nullptr.
const Mutant* find_mutant(string_view name);

/// A lambda without captures: it is made anew where it is called.
template <class F>
concept Captureless = std::is_empty_v<F>;

/// A mutant whose mistake shows only in larger or rarer calls than those of tier 0.
constexpr Mutant from_tier(int tier, Mutant m) {
  m.tier = tier;
  return m;
}

/// For a row's member `make`.
template <class B> std::unique_ptr<Behaviour> made() { return std::make_unique<B>(); }

/// A mistake in the value of one output element: a function of (attributes, inputs, y, output
/// type).
template <class Op, Captureless At>
constexpr Mutant wrong(string_view name, string_view kind, string_view provenance, At) {
  return {name, Op::name, kind, provenance, [](Attributes values, In in, Results out) {
            const auto a = from_attributes<Op>(values);
            const Type& t = out[0];
            Index y = Index::filled(t.rank(), 0);
            do out[0](y) = static_cast<i32>(At{}(a, in, y, t));
            while (next(y, t.shape));
          }};
}

/// A right value that a function of (value, attributes) then makes wrong.
template <class Op, Captureless Change>
constexpr Mutant then_wrong(string_view name, string_view kind, string_view provenance, Change) {
  return wrong<Op>(name, kind, provenance,
      [](auto& a, In in, auto& y, auto& t) { return i64{Change{}(value_at<Op>(a, in, y, t), a)}; });
}

/// Misread attributes: a function changes them. The mutant computes the call with the changed ones
/// and fills the output with its elements in order, repeating them if they are too few.
template <class Op, Captureless Change>
constexpr Mutant misread(string_view name, string_view kind, string_view provenance, Change) {
  return {name, Op::name, kind, provenance, [](Attributes values, In in, Results out) {
            auto a = from_attributes<Op>(values);
            Change{}(a, in);
            const std::vector<Type> types(in.begin(), in.end());
            const Type t = Op::infer(a, {types.data(), in.size()})[0];
            for (i64 k = 0, n = volume(out[0].shape); k < n; ++k) {
              const Index y = unravel(k % volume(t.shape), t.shape);
              out[0].element(k) = static_cast<i32>(value_at<Op>(a, in, y, t));
            }
          }};
}

/// A right element in a wrong place: a function of (attributes, inputs, y, output type) moves y to
/// the place whose element it gets.
template <class Op, Captureless Move>
constexpr Mutant misplaced(string_view name, string_view kind, string_view provenance, Move) {
  return wrong<Op>(name, kind, provenance, [](auto& a, In in, auto y, auto& t) {
    Move{}(a, in, y, t);
    return i64{value_at<Op>(a, in, y, t)};
  });
}

/// Whether lane k of n lies behind the last whole vector.
constexpr bool in_tail(i64 k, i64 n, i64 width) { return k >= n - n % width; }
/// Whether output y is one of the last |Y| mod width elements.
constexpr bool in_tail(const Index& y, const Type& t, i64 width) {
  return in_tail(ravel(y, t.shape), volume(t.shape), width);
}
/// The lane whose element lane k of n gets where the halves of whole vectors are swapped.
constexpr i64 swap_halves(i64 k, i64 n, i64 width) {
  return in_tail(k, n, width) ? k : k ^ (width / 2);
}
/// The same where the last lanes get what the whole vector before them got.
constexpr i64 repeat_vector(i64 k, i64 n, i64 width) {
  return in_tail(k, n, width) && n > width ? k - width : k;
}

constexpr i64 to_int8(i64 v) { return static_cast<std::int8_t>(v); }
constexpr i64 to_int16(i64 v) { return static_cast<std::int16_t>(v); }
constexpr i64 to_int32(i64 v) { return static_cast<i32>(v); }
constexpr i64 saturate_int16(i64 v) { return clamp(v, INT16_MIN, INT16_MAX); }
constexpr std::uint32_t to_unsigned(i64 v) { return static_cast<std::uint32_t>(v); }
constexpr i64 to_float(i64 v) { return static_cast<i64>(static_cast<float>(v)); }

/// The nearest binary16, ties to even: 11 significant bits, at most 65504.
constexpr i64 to_half(i64 v) {
  const i64 m = magnitude(v), unit = i64{1} << max(bit_length(m) - 11, 0);
  const i64 twice = 2 * (m % unit), odd = m / unit % 2;
  const i64 up = twice > unit || (twice == unit && odd == 1) ? unit : 0;
  const i64 rounded = min(m - m % unit + up, 65504);
  return v < 0 ? -rounded : rounded;
}

/// A dot product as x86 computes it before VNNI: bytes made unsigned by adding 128, and pairs of
/// products that saturate at 16 bits.
struct SaturatingPairs {
  i64 total = 0, pair = 0, offset = 0;
  bool half = false;
  constexpr void add(i64 x, i64 w) {
    pair += (x + 128) * w;
    offset += 128 * w;
    if (half) flush();
    half = !half;
  }
  constexpr void flush() {
    total += saturate_int16(pair);
    pair = 0;
  }
  constexpr i64 result() {
    flush();
    return total - offset;
  }
};

}  // namespace lockstep::faulty
