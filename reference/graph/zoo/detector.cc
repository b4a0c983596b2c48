#include <utility>

#include "reference/graph/zoo/architectures.h"

namespace lockstep::graph::zoo {
namespace {

constexpr i64 kObjects = 80, kAnchors = 3, kBox = 4, kColumns = kBox + 1 + kObjects;
constexpr i64 kSubpixels = 4;  // coordinates count quarters of a pixel
constexpr i64 kTable = 256;    // entries of a table over 8 bits, for -128 first

// e^(n / 64) in units of 2^-20, |n| <= 512, by integers alone so that every machine gets the same.
constexpr i64 exponential(i64 n) {
  constexpr i64 kStep = 1090650797;  // e^(1 / 64) in units of 2^-30
  i64 e = i64{1} << 20;
  for (; n > 0; --n) e = e * kStep >> 30;
  for (; n < 0; ++n) e = (e << 30) / kStep;
  return e;
}

// What `f` makes of each value of 8 bits.
template <class F> std::vector<i32> table(F f) {
  std::vector<i32> entries;
  for (i64 v = -kTable / 2; v < kTable / 2; ++v) entries.push_back(static_cast<i32>(f(v)));
  return entries;
}

// Decodes the image of one scale. A value of 8 bits counts sixteenths in sigmoid, and 64ths in the
// exponential of a box's size.
class Head {
 public:
  Head(Builder& net, const Value& image, i64 stride, const std::vector<i32>& anchors)
      : net_(net), rows_(image.dim(2)), columns_(image.dim(3)), stride_(stride) {
    const Value boxes =
        net.call("reshape", {image}, {{"shape", tuple({1, kAnchors, kColumns, rows_, columns_})}});
    cells_ = net.call("transpose", {boxes}, {{"axes", "(0,3,4,1,2)"}});
    prefix_ = "stride" + std::to_string(stride) + "_";
    anchors_ = constant("anchors", {kAnchors, 2}, anchors);
    middle_ = constant("middle", {1}, {kTable / 2});
  }

  // (1, rows, 6), in the columns of non_max_suppression.
  Value boxes() {
    const auto [id, level] = best_object();
    const Value chance = sigmoid("chance", 128);
    const Value score = shifted(
        "broadcast_mul", {look_up(columns(kBox, kBox + 1), chance), look_up(level, chance)}, 8, 7);
    const Value center = net_.call("broadcast_add",
        {look_up(columns(0, 2), sigmoid("offset", kSubpixels * stride_)), grid()}, {});
    const Value size =
        constant("size", {kTable}, table([](i64 v) { return exponential(v) >> 16; }));
    // The table holds sixteenths, and half of a box is wanted in subpixels.
    const Value half = shifted("broadcast_mul", {look_up(columns(2, kBox), size), anchors_}, 16, 3);
    const Value all = net_.concat(
        {id, score, inside("broadcast_sub", center, half), inside("broadcast_add", center, half)},
        4);
    return net_.call("reshape", {all}, {{"shape", tuple({1, -1, kBox + 2})}});
  }

 private:
  Value constant(const char* name, const Shape& shape, const std::vector<i32>& elements) {
    return net_.constant(prefix_ + name, shape, elements);
  }
  Value columns(i64 begin, i64 end) {
    return net_.call("strided_slice", {cells_},
        {{"begin", tuple({0, 0, 0, 0, begin})},
            {"end", tuple({1, rows_, columns_, kAnchors, end})}});
  }
  Value shifted(const char* op, const std::vector<Value>& in, i64 precision, i64 bits) {
    return net_.call("cvm_right_shift", {net_.call(op, in, {})},
        {{"precision", std::to_string(precision)}, {"shift_bit", std::to_string(bits)}});
  }
  Value look_up(const Value& v, const Value& values) {
    return net_.call("cvm_lut", {net_.call("broadcast_add", {v, middle_}, {}), values},
        {{"in_dim", std::to_string(kTable)}});
  }
  Value sigmoid(const char* name, i64 one) {
    return constant(name, {kTable}, table([one](i64 v) {
      const i64 e = exponential(4 * v), whole = e + exponential(0);
      return (2 * one * e + whole) / (2 * whole);
    }));
  }

  // The number of the likeliest object, and how likely it is, as 8 bits. The largest of
  // 128 * value + number tells both.
  std::pair<Value, Value> best_object() {
    std::vector<i32> numbers;
    for (i32 k = 0; k < kObjects; ++k) numbers.push_back(k);
    const Value factor = constant("factor", {1}, {128}), half = constant("half", {1}, {64});
    const Value numbered = net_.call("broadcast_add",
        {net_.call("broadcast_mul", {columns(kBox + 1, kColumns), factor}, {}),
            constant("numbers", {kObjects}, numbers)},
        {});
    const Value best = net_.call("max", {numbered}, {{"axis", "(4)"}, {"keepdims", "true"}});
    // The shift rounds to nearest; after half a unit is subtracted, it rounds down.
    const Value level = shifted("broadcast_sub", {best, half}, 8, 7);
    const Value id =
        net_.call("broadcast_sub", {best, net_.call("broadcast_mul", {level, factor}, {})}, {});
    return {id, level};
  }

  // The corner of each cell.
  Value grid() {
    std::vector<i32> corners;
    for (i64 y = 0; y < rows_; ++y)
      for (i64 x = 0; x < columns_; ++x)
        for (const i64 at : {x, y}) corners.push_back(static_cast<i32>(kSubpixels * stride_ * at));
    return constant("grid", {rows_, columns_, 1, 2}, corners);
  }

  Value inside(const char* op, const Value& center, const Value& half) {
    return net_.call("clip", {net_.call(op, {center, half}, {})},
        {{"a_min", "0"}, {"a_max", std::to_string(kSubpixels * stride_ * rows_)}});
  }

  Builder& net_;
  i64 rows_, columns_, stride_;
  std::string prefix_;
  Value cells_, anchors_, middle_;
};

Value convolved(Builder& net, const Value& x, i64 channels, i64 kernel) {
  return net.leaky(net.conv(x, channels, kernel));
}

// A window of 2x2 for each pixel; beyond the lower and right edges there is nothing.
Value pool_in_place(Builder& net, const Value& x) {
  const Value larger = net.max_pool(x, 2, 1, 1);
  return net.call("strided_slice", {larger},
      {{"begin", "(0,0,1,1)"}, {"end", tuple({1, x.dim(1), x.dim(2) + 1, x.dim(3) + 1})}},
      larger.expected);
}

}  // namespace

// Redmon and Farhadi, YOLOv3; the layers and anchors of yolov3-tiny.cfg.
Network yolov3_tiny(Builder net) {
  Value x = net.data(), fine;
  for (const i64 channels : {16, 32, 64, 128, 256}) {
    fine = convolved(net, x, channels, 3);
    x = net.max_pool(fine, 2, 2);
  }
  x = pool_in_place(net, convolved(net, x, 512, 3));
  x = convolved(net, convolved(net, x, 1024, 3), 256, 1);
  const Value coarse = net.conv(convolved(net, x, 512, 3), kAnchors * kColumns, 1);
  x = net.concat({net.upsample(convolved(net, x, 128, 1), 2), fine});
  const Value dense = net.conv(convolved(net, x, 256, 3), kAnchors * kColumns, 1);

  const Value boxes = net.concat({Head(net, coarse, 32, {81, 82, 135, 169, 344, 319}).boxes(),
      Head(net, dense, 16, {10, 14, 23, 27, 37, 58}).boxes()});
  const Value count = net.call("get_valid_counts", {boxes}, {{"score_threshold", "96"}});
  const Value kept =
      net.call("non_max_suppression", {net.output(count, 1), count}, {{"iou_threshold", "45"}});
  return std::move(net).finish({kept}, "detection");
}

}  // namespace lockstep::graph::zoo
