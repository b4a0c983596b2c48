/// @file
/// Runs a call through the table of the backend, with every tensor in a layout of its own, and
/// compares it with the reference.
#pragma once
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "backends/call.h"
#include "reference/evaluate.h"
#include "spec/check.h"
#include "spec/random.h"

namespace lockstep::cpu {

inline constexpr i32 kPoison = 0x5a5a5a5a;

/// Draws the least of everything. Tensors are then compact.
struct Least : Draw {
  i64 operator()(i64 lo, i64) override { return lo; }
};

/// A tensor somewhere in memory: axes in any order, gaps between elements, room on both sides.
struct Placed {
  reference::Tensor tensor;
  std::vector<int64_t> shape, stride;
  i64 first = 0;
  std::vector<i32> memory;
  std::vector<int8_t> bytes;  // of a constant that is handed over as int8

  Placed(const reference::Tensor& t, Draw& draw) : tensor(t), stride(6, 1) {
    shape.assign(t.type.shape.begin(), t.type.shape.end());
    const int rank = t.type.rank();
    const bool is_strided = draw(0, 2) > 0, has_fours = is_strided && draw(0, 2) == 0;
    std::vector<int> order(static_cast<std::size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    for (int d = rank - 1; is_strided && d > 0; --d)
      std::swap(order[static_cast<std::size_t>(d)], order[static_cast<std::size_t>(draw(0, d))]);
    i64 step = is_strided && !has_fours ? draw(1, 2) : 1;
    for (int d = rank - 1; d >= 0; --d) {
      const auto axis = static_cast<std::size_t>(order[static_cast<std::size_t>(d)]);
      stride[axis] = step;
      step *= shape[axis] + (is_strided ? draw(0, 1) : 0);
      if (has_fours && draw.coin()) step = ceil_div(step, 4) * 4;
    }
    first = has_fours ? 4 * draw(0, 5) : is_strided ? draw(0, 20) : 0;
    memory.assign(static_cast<std::size_t>(first + step + 16), kPoison);
  }
  i64 address(const Index& i) const {
    i64 k = first;
    for (int d = 0; d < i.size; ++d) k += i[d] * stride[static_cast<std::size_t>(d)];
    return k;
  }
  /// Calls f(element, value) for each element in row-major order.
  template <class F> void for_each(F f) {
    Index i = Index::filled(tensor.type.rank(), 0);
    std::size_t k = 0;
    do f(memory[static_cast<std::size_t>(address(i))], tensor.data[k++]);
    while (next(i, tensor.type.shape));
  }
  client::TensorView view(bool is_constant) {
    return {shape, {stride.data(), shape.size()}, tensor.type.precision,
        is_constant ? data() : nullptr};
  }
  client::TensorView bytes_view() {
    bytes.assign(tensor.data.begin(), tensor.data.end());
    i64 step = 1;
    for (std::size_t d = shape.size(); d-- > 0; step *= shape[d]) stride[d] = step;
    return {shape, {stride.data(), shape.size()}, tensor.type.precision, bytes.data(), true};
  }
  i32* data() { return memory.data() + first; }
};

/// A call with data.
struct TestCall {
  const OpInfo* op;
  Drawn drawn;
  std::vector<reference::Tensor> in;
};

/// Fills the inputs of a call: extremes that a sum cannot hide, alternating or random.
inline TestCall filled(const OpInfo& op, const Drawn& drawn, Draw& draw) {
  TestCall c{&op, drawn, {}};
  for (const Type& type : drawn.types()) {
    const i64 most = max_of(type.precision), kind = draw(0, 3);
    reference::Tensor t{type, std::vector<i32>(static_cast<std::size_t>(volume(type.shape)))};
    for (i32& v : t.data) {
      const i64 k = &v - t.data.data();
      v = static_cast<i32>(kind == 0 ? most
              : kind == 1            ? -most
              : kind == 2            ? (k % 2 == 0 ? most : -most)
                                     : draw(-most, most));
    }
    c.in.push_back(std::move(t));
  }
  return c;
}

/// A legal call, filled with extremes.
template <class Op>
TestCall call_of(const typename Op::Attrs& attrs, const std::vector<Type>& in, Draw& draw) {
  Drawn d;
  for (const Attr& a : to_attributes<Op>(attrs)) d.attrs[d.attr_count++] = a;
  for (const Type& t : in) d.in[d.in_count++] = t;
  const OpInfo& op = info<Op>();
  EXPECT_EQ(check(op, d.attributes(), d.types()).label(), "");
  return filled(op, d, draw);
}

/// Scratch memory, full of meaningless numbers; an access to the first byte behind it is fatal.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : room_((bytes + 63) / 64 * 64), all_(pages(room_) + kPage) {
    void* const at =
        mmap(nullptr, all_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<char*>(at);
    mprotect(begin_ + pages(room_), kPage, PROT_NONE);
    std::fill_n(data(), room_, '\x7f');
  }
  ~Guarded() { munmap(begin_, all_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  char* data() const { return begin_ + pages(room_) - room_; }

 private:
  static constexpr std::size_t kPage = 65'536;  // a multiple of any page
  static std::size_t pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

  std::size_t room_, all_;
  char* begin_;
};

/// The backend that is linked in.
inline client::Result<client::Backend> open_backend(const client::Options& options = {}) {
  return client::Backend::open(client::Library(lockstep_backend_v1()), options);
}

/// The addresses of tensors in memory.
template <class Address> std::vector<Address> addresses(std::vector<Placed>& tensors) {
  std::vector<Address> all;
  for (Placed& p : tensors) all.push_back(p.data());
  return all;
}

/// Runs a plan on tensors in memory and compares every byte of the outputs with the reference.
inline void execute(const client::Plan& plan, std::vector<Placed>& in, std::vector<Placed>& out) {
  const Guarded scratch(plan.scratch_bytes());
  const client::Status status =
      plan.execute(addresses<const void*>(in), addresses<void*>(out), scratch.data());
  ASSERT_TRUE(status.ok()) << status.text;
  for (Placed& p : out) {
    i64 wrong = 0;
    p.for_each([&](i32& element, i32 value) {
      wrong += element != value;
      element = kPoison;
    });
    EXPECT_EQ(wrong, 0) << "elements differ from the reference";
    EXPECT_EQ(
        std::count(p.memory.begin(), p.memory.end(), kPoison), static_cast<i64>(p.memory.size()))
        << "written outside the output";
  }
}

/// The bytes of the elements of tensors.
inline uint64_t bytes_of(const std::vector<Placed>& tensors) {
  uint64_t elements = 0;
  for (const Placed& p : tensors) elements += p.tensor.data.size();
  return elements * sizeof(i32);
}

/// A plan and the tensors on which it runs; constants lie in `in` or in `constants`.
struct Ready {
  std::vector<Placed> in, out, constants;
  client::Result<client::Plan> plan;
};

/// Prepares a call, every tensor in a layout of its own, some inputs as constants.
inline Ready prepared(const client::Backend& backend, const TestCall& call, Draw& draw) {
  const Attributes attributes = call.drawn.attributes();
  std::vector<Placed> in, out;
  for (const reference::Tensor& t : call.in) {
    Placed& p = in.emplace_back(t, draw);
    p.for_each([](i32& element, i32 value) { element = value; });
  }
  for (const reference::Tensor& t : reference::outputs(*call.op, attributes, call.in))
    out.emplace_back(t, draw);
  client::Call put{std::string(call.op->name), client::attributes_of(*call.op, attributes), {}, {}};
  for (Placed& p : in) put.in.push_back(p.view(draw.coin()));
  for (Placed& p : out) put.out.push_back(p.view(false));
  auto plan = backend.prepare(put);
  EXPECT_TRUE(plan.ok()) << plan.status().label << ": " << plan.status().text;
  const uint64_t scratch = plan.ok() ? plan->scratch_bytes() : 0;
  EXPECT_LE(scratch, 2 * (bytes_of(in) + bytes_of(out)) + 4096) << call.op->name;
  return {std::move(in), std::move(out), {}, std::move(plan)};
}

/// Runs a call and compares it with the reference. @return the path, or "" where prepare refused.
inline std::string judge(
    const client::Backend& backend, const TestCall& call, Draw& draw, int executions = 1) {
  Ready ready = prepared(backend, call, draw);
  if (!ready.plan.ok()) return "";
  for (int i = 0; i < executions; ++i) execute(*ready.plan, ready.in, ready.out);
  return ready.plan->path();
}

}  // namespace lockstep::cpu
