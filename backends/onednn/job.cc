#include "backends/onednn/job.h"

#include <dlfcn.h>

#include <algorithm>
#include <stdexcept>

namespace lockstep::onednn {
namespace {

constexpr std::size_t kAlign = 64;  // of scratch memory, which the ABI promises

// Calls f(place, source) for each place of a tensor that repeats the places of a smaller one.
template <class F> void each_place(const memory::dims& from, const memory::dims& to, F f) {
  const std::size_t rank = to.size();
  memory::dims at(rank, 0), step(rank, 0);
  for (std::size_t d = rank, n = 1; d-- > 0; n *= static_cast<std::size_t>(from[d]))
    step[d] = from[d] == to[d] ? static_cast<int64_t>(n) : 0;
  int64_t place = 0, count = 1;
  for (const int64_t extent : to) count *= extent;
  for (int64_t i = 0; i < count; ++i) {
    f(i, place);
    for (std::size_t d = rank; d-- > 0;) {
      place += step[d];
      if (++at[d] < to[d]) break;
      place -= step[d] * to[d];
      at[d] = 0;
    }
  }
}

template <class T>
void carry_in(const int32_t* from, const memory::dims& extents, const memory::dims& to, void* at) {
  each_place(extents, to,
      [&](int64_t i, int64_t place) { static_cast<T*>(at)[i] = static_cast<T>(from[place]); });
}

void carry_in(const int32_t* from, const Carried& t, void* at) {
  const memory::dims to = t.plain.dims();
  switch (t.plain.data_type()) {
    case memory::data_type::s8: return carry_in<int8_t>(from, t.from, to, at);
    case memory::data_type::s32: return carry_in<int32_t>(from, t.from, to, at);
    default: throw std::logic_error("no input has this type");
  }
}

void carry_out(const void* from, const memory::desc& plain, int32_t* to) {
  const std::size_t count = plain.get_size() / sizeof(int32_t);  // also sizeof(float)
  if (plain.data_type() == memory::data_type::s32)
    std::copy_n(static_cast<const int32_t*>(from), count, to);
  else  // integers that float32 represents exactly
    std::transform(static_cast<const float*>(from), static_cast<const float*>(from) + count, to,
        [](float v) { return static_cast<int32_t>(v); });
}

}  // namespace

void Device::use_threads() const {
  // oneDNN reads the number from the OpenMP library that it was built with.
  static const auto set =
      reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  static const auto processors =
      reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_num_procs"));
  if (!set || !processors) {
    if (threads > 0) throw std::runtime_error("this oneDNN was built without OpenMP");
    return;
  }
  set(threads > 0 ? threads : processors());
}

memory::dims dims_of(const ls_tensor& t) { return {t.dl.shape, t.dl.shape + t.dl.ndim}; }

memory::desc rows(const memory::dims& dims, memory::data_type type) {
  memory::dims strides(dims.size(), 1);
  for (std::size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return {dims, type, strides};
}

memory::desc any(const memory::dims& dims, memory::data_type type) {
  return {dims, type, memory::format_tag::any};
}

Job::Job(const Device& device, const char* name, const dnnl::primitive& primitive,
    const memory::desc& scratchpad, std::vector<Carried> in, Carried out)
    : device_(device), name_(name), primitive_(primitive), scratchpad_(reserve(scratchpad)) {
  for (Carried& t : in) in_.push_back(way_of(std::move(t), true));
  out_ = way_of(std::move(out), false);
}

Job::Piece Job::reserve(const memory::desc& desc) {
  const Piece piece{bytes_, desc};
  bytes_ += (desc.get_size() + kAlign - 1) / kAlign * kAlign;
  return piece;
}

memory Job::place(const Piece& piece, void* scratch) const {
  return {piece.desc, device_.engine, static_cast<char*>(scratch) + piece.at};
}

Job::Way Job::way_of(Carried tensor, bool inwards) {
  Way way;
  way.tensor = std::move(tensor);
  const memory::desc &plain = way.tensor.plain, &own = way.tensor.own;
  way.plain = reserve(plain);
  if (!way.tensor.moved()) return way;
  const dnnl::reorder::primitive_desc pd(device_.engine, inwards ? plain : own, device_.engine,
      inwards ? own : plain, device_.attributes);
  way.own = reserve(own);
  way.scratchpad = reserve(pd.scratchpad_desc());
  way.move = dnnl::reorder(pd);
  return way;
}

void Job::move(const dnnl::stream& stream, const Way& way, void* scratch, bool inwards) const {
  if (!way.tensor.moved()) return;
  const memory plain = place(way.plain, scratch), own = place(way.own, scratch);
  way.move.execute(stream,
      {{DNNL_ARG_FROM, inwards ? plain : own}, {DNNL_ARG_TO, inwards ? own : plain},
          {DNNL_ARG_SCRATCHPAD, place(way.scratchpad, scratch)}});
}

void Job::run(const int32_t* const* in, int32_t* const* out, void* scratch) const {
  device_.use_threads();
  dnnl::stream stream(device_.engine);
  std::unordered_map<int, memory> arguments;
  const auto argue = [&](const Way& way) {
    const Piece& piece = way.tensor.moved() ? way.own : way.plain;
    arguments[way.tensor.argument] = place(piece, scratch);
  };
  for (std::size_t k = 0; k < in_.size(); ++k) {
    carry_in(in[k], in_[k].tensor, static_cast<char*>(scratch) + in_[k].plain.at);
    move(stream, in_[k], scratch, true);
    argue(in_[k]);
  }
  argue(out_);
  arguments[DNNL_ARG_SCRATCHPAD] = place(scratchpad_, scratch);
  primitive_.execute(stream, arguments);
  move(stream, out_, scratch, false);
  stream.wait();
  carry_out(static_cast<char*>(scratch) + out_.plain.at, out_.tensor.plain, out[0]);
}

}  // namespace lockstep::onednn
