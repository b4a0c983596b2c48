#include "backends/cuda/layer.h"

#include <algorithm>

#include "spec/ops/conv2d.h"
#include "spec/ops/dense.h"

namespace lockstep::cuda {
namespace {

void take_strides(Layer& l, const backend::LegalCall& call) {
  std::copy_n(call.in[0].stride, call.in[0].rank(), l.xs);
  std::copy_n(call.in[1].stride, call.in[1].rank(), l.ws);
  l.has_bias = call.in.size() == 3;
  if (l.has_bias) l.bias_stride = call.in[2].stride[0];
}

Layer convolution(const Conv2dAttrs& a, const backend::LegalCall& call) {
  const View& x = call.in[Conv2d::X];
  const Out& y = call.out[0];
  Layer l{.images = x.dim(0),
      .groups = a.groups,
      .inputs = x.dim(1) / a.groups,
      .outputs = a.channels / a.groups,
      .height = x.dim(2),
      .width = x.dim(3),
      .lines = y.dim(2),
      .columns = y.dim(3)};
  for (int d = 0; d < 2; ++d) {
    l.taps[d] = a.kernel_size[d];
    l.stride[d] = a.strides[d];
    l.padding[d] = a.padding[d];
    l.dilation[d] = a.dilation[d];
  }
  take_strides(l, call);
  return l;
}

Layer convolution(const DenseAttrs& a, const backend::LegalCall& call) {
  const View& x = call.in[Dense::X];
  Layer l{x.dim(0), 1, x.dim(1), a.units, 1, 1, 1, 1};
  take_strides(l, call);
  return l;
}

Border border_of(const Packing& packing) {
  const auto words = [](i64 bytes) { return static_cast<u32>(bytes / 4); };
  Border b;
  b.image_words = words(packing.image_bytes());
  b.head = words(packing.offset(0, 0));
  const u32 line = words(packing.width * packing.position_bytes());
  const u32 gap = words(packing.line_bytes()) - line;
  b.lines = gap == 0 ? 1 : static_cast<u32>(packing.height);
  b.line_words = gap == 0 ? line * static_cast<u32>(packing.height) : line;
  b.gap = Divisor(max(gap, 1));
  const i64 words_of_image = b.image_words - i64{b.lines} * b.line_words;
  b.image = Divisor(max(words_of_image, 1));
  b.words = static_cast<u32>(packing.images * words_of_image);
  return b;
}

template <class Data> void widen(Surface<Data>& s, bool has_fours) {
  s.is_wide = has_fours && !s.is_packed && s.stride[1] == 1 && is_aligned(s.data) &&
      s.stride[0] % 4 == 0 && s.stride[2] % 4 == 0 && s.stride[3] % 4 == 0;
}

}  // namespace

std::optional<Layer> layer_of(const backend::LegalCall& call) {
  const auto layer = [&](auto op) {
    return convolution(from_attributes<decltype(op)>(call.attributes()), call);
  };
  if (call.op->name == Conv2d::name) return layer(Conv2d{});
  if (call.op->name == Dense::name) return layer(Dense{});
  return std::nullopt;
}

Ending::Ending(const Arguments& a, const Layer& l)
    : fusion_(a.fusion),
      has_bias_(l.has_bias),
      has_fours_(l.groups == 1 || l.outputs % 4 == 0),
      ports_(a.call.in.size()) {
  e_.bias_stride = l.bias_stride;
  e_.finish = fusion_.finish;
  e_.added = surface_of<const void>(fusion_.added, fusion_.addend);
  e_.y = surface_of<void>(a.call.out[0], fusion_.y);
  if (fusion_.y) e_.border = border_of(*fusion_.y);
}

Epilogue Ending::bound(const int32_t* const* in, int32_t* const* out, i64 threads) const {
  Epilogue e = e_;
  const auto first = [](const std::optional<Packing>& p) { return p ? p->offset(0, 0) : 0; };
  if (has_bias_) e.bias = in[2];
  if (e.finish.adds)
    e.added.data = reinterpret_cast<const Byte*>(in[ports_]) + first(fusion_.addend);
  e.y.data = reinterpret_cast<Byte*>(out[0]) + first(fusion_.y);
  widen(e.added, has_fours_);
  widen(e.y, has_fours_);
  e.border.cells = out[0];
  e.border.threads = static_cast<u32>(threads);
  return e;
}

}  // namespace lockstep::cuda
