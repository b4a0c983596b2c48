// take and cvm_lut: indices beyond both ends, tables and rows beside every width, any layout.
#include "backends/cpu/tests/modes.h"
#include "spec/ops/cvm_lut.h"
#include "spec/ops/take.h"

namespace lockstep::cpu {
namespace {

class Gathers : public InEachMode {};

INSTANTIATE_TEST_SUITE_P(
    Modes, Gathers, testing::ValuesIn(modes()), [](const auto& p) { return name_of(p.param); });

constexpr i64 kBesideWidths[] = {1, 3, 4, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127};

i64 beside_a_width(Draw& draw) { return kBesideWidths[draw(0, std::size(kBesideWidths) - 1)]; }

// Indices of 0 .. last, a little beyond, and as far away as 32 bits allow.
void fill_indices(reference::Tensor& t, i64 last, Draw& draw) {
  for (i32& v : t.data) {
    const i64 kind = draw(0, 9);
    v = static_cast<i32>(kind == 0 ? kIntMax : kind == 1 ? -kIntMax : draw(-2, last + 2));
  }
}

TestCall take_of(const TakeAttrs& a, const Shape& x, const Shape& indices, Draw& draw) {
  TestCall c = call_of<Take>(a, {{x, draw.precision()}, {indices, 32}}, draw);
  fill_indices(c.in[Take::I], a.axis ? x[wrap(*a.axis, x.size)] - 1 : volume(x) - 1, draw);
  return c;
}

TestCall lut_of(const Shape& data, const Shape& table, int precision, Draw& draw) {
  TestCall c = call_of<CvmLut>({.in_dim = volume(table)}, {{data, 32}, {table, precision}}, draw);
  fill_indices(c.in[CvmLut::D], volume(table) - 1, draw);
  return c;
}

TEST_P(Gathers, TakeAlongAnyAxis) {
  judge_drawn(400, GetParam().path("take"), [](Draw& draw) {
    Shape x{draw(1, 5), beside_a_width(draw), draw(1, 4)};
    if (draw.coin()) x = {draw(1, 9), draw(1, 5), beside_a_width(draw)};
    const Shape indices = draw.coin() ? Shape{beside_a_width(draw)} : Shape{draw(1, 9), draw(1, 5)};
    return take_of({.axis = draw(-3, 2)}, x, indices, draw);
  });
}

// X with more elements than there are indices, and with fewer; the kernel orders such an X first.
TEST_P(Gathers, TakeElements) {
  judge_drawn(400, GetParam().path("take"), [](Draw& draw) {
    const Shape x{draw(1, 9), beside_a_width(draw), draw(1, 3)};
    const Shape indices{draw(1, 3), beside_a_width(draw), draw(1, 9)};
    return take_of({}, x, indices, draw);
  });
}

// Registers hold tables of up to 320 entries of 16 bits.
TEST_P(Gathers, LookUpInTablesBesideTheSizeOfRegisters) {
  Seeded draw(1);
  for (const i64 entries : {1, 2, 63, 64, 65, 128, 129, 255, 256, 257, 319, 320, 321})
    for (const int precision : {8, 16, 17, 32})
      for (const i64 n : {1023, 1024, 1055, 1056, 1057}) {
        SCOPED_TRACE(
            testing::Message() << entries << " entries of " << precision << " bits, " << n);
        TestCall c = lut_of({n}, {entries}, precision, draw);
        EXPECT_EQ(judge(backend, c, draw), GetParam().path("cvm_lut"));
        if (HasFailure()) return;
      }
}

// Outputs of several boxes whose stores bypass the caches, and rows that are prefetched.
TEST_P(Gathers, FillWhatIsLarge) {
  Seeded draw(2);
  const i64 most = i64{2} << 20;
  EXPECT_EQ(
      judge(backend, lut_of({3, most / 3 + 1}, {300}, 16, draw), draw), GetParam().path("cvm_lut"));
  EXPECT_EQ(judge(backend, lut_of({most + 3}, {7, 50}, 8, draw), draw), GetParam().path("cvm_lut"));
  for (const i64 row : {17, 65, 1025})
    EXPECT_EQ(judge(backend, take_of({.axis = 0}, {900, row}, {most / row + 1}, draw), draw),
        GetParam().path("take"))
        << row;
}

}  // namespace
}  // namespace lockstep::cpu
