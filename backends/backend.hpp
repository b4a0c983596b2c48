/// @file
/// A C++ backend in about forty lines: derive a Plan, write a class with `manifest` and `prepare`,
/// and return `table<YourBackend>()` from lockstep_backend_v1(). Exceptions become statuses here.
///
/// License: Apache-2.0 OR MIT.
#pragma once
#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "backend.hpp needs C++20; a backend in another language includes backend.h alone"
#endif
#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"

namespace lockstep::backend {

/// An error of the caller: becomes LS_LOGIC with its label.
struct LogicError : std::logic_error {
  /// An error with this label and, as its sentence, `text`.
  LogicError(std::string l, const std::string& text)
      : std::logic_error(text), label(std::move(l)) {}
  std::string label;  ///< of the rule that the call breaks, such as "conv2d.window"
};
/// A legal call that is not offered: becomes LS_UNSUPPORTED.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The options of open(). A backend must refuse those that it does not know.
using Options = std::map<std::string, std::string, std::less<>>;

/// A prepared call's arguments, valid during prepare() and infer().
struct Call {
  std::string_view op;             ///< the operator's canonical name
  std::span<const ls_attr> attrs;  ///< in table order, defaults filled in; or all as text
  /// The types of the inputs; in prepare() also the data of those that are constant.
  std::span<const ls_tensor> in;
  std::span<const ls_tensor> out;  ///< as inferred; empty in infer()

  /// The attribute of this name. @throws std::out_of_range if the call has none.
  const ls_attr& attr(std::string_view name) const {
    for (const ls_attr& a : attrs)
      if (a.key == name) return a;
    throw std::out_of_range("no attribute " + std::string(name));
  }
  /// The value of an integer or a boolean. @throws std::out_of_range without it.
  int64_t integer(std::string_view name) const { return attr(name).ints[0]; }
  /// The entries of a tuple. @throws std::out_of_range without it.
  std::span<const int64_t> tuple(std::string_view name) const {
    return {attr(name).ints, attr(name).count};
  }
};

/// A graph's nodes over numbered entries, valid during compile().
struct Graph {
  std::span<const ls_node> nodes;      ///< the calls, in an order in which they can run
  std::span<const ls_tensor> entries;  ///< every tensor, by its number
  std::span<const uint32_t> feeds;     ///< the entries that execute() is given
  std::span<const uint32_t> heads;     ///< the entries that it has to write

  /// The entries that a node reads.
  static std::span<const uint32_t> inputs(const ls_node& n) { return {n.in, n.n_in}; }
  /// The entries that a node writes.
  static std::span<const uint32_t> outputs(const ls_node& n) { return {n.out, n.n_out}; }
  /// Whether the data of an entry is known now and never changes.
  bool is_constant(uint32_t entry) const { return (entries[entry].flags & LS_CONSTANT) != 0; }
  /// Whether an entry is a constant of compact int8 (ls_api::int8_constants).
  bool is_int8(uint32_t entry) const { return entries[entry].dl.dtype.bits == 8; }
};

/// Checks that every number names an entry, that each entry is written once, as a constant, a feed
/// or an output of one node, and that it is written before it is read.
/// @throws LogicError `graph.entry`, `graph.written` or `graph.order`, naming node and entry.
inline void check_graph(const Graph& g) {
  std::vector<bool> written(g.entries.size());
  const auto known = [&](uint32_t e, const std::string& where) {
    if (e >= g.entries.size())
      throw LogicError("graph.entry",
          where + " is entry " + std::to_string(e) + " of " + std::to_string(g.entries.size()));
  };
  const auto write = [&](uint32_t e, const std::string& where) {
    known(e, where);
    if (written[e])
      throw LogicError("graph.written", where + " writes entry " + std::to_string(e) + " again");
    written[e] = true;
  };
  const auto read = [&](uint32_t e, const std::string& where) {
    known(e, where);
    if (!written[e])
      throw LogicError(
          "graph.order", where + " reads entry " + std::to_string(e) + " before it is written");
  };
  for (uint32_t e = 0; e < g.entries.size(); ++e)
    if (g.is_constant(e)) written[e] = true;
  for (std::size_t k = 0; k < g.feeds.size(); ++k) write(g.feeds[k], "feed " + std::to_string(k));
  for (std::size_t n = 0; n < g.nodes.size(); ++n) {
    const std::string node = "node " + std::to_string(n);
    for (const uint32_t e : Graph::inputs(g.nodes[n])) read(e, "an input of " + node);
    for (const uint32_t e : Graph::outputs(g.nodes[n])) write(e, "an output of " + node);
  }
  for (std::size_t k = 0; k < g.heads.size(); ++k) read(g.heads[k], "head " + std::to_string(k));
}

/// Number of elements of a tensor.
inline int64_t volume(const ls_tensor& t) {
  int64_t n = 1;
  for (int d = 0; d < t.dl.ndim; ++d) n *= t.dl.shape[d];
  return n;
}

/// Whether a tensor is contiguous in row-major order.
inline bool compact(const ls_tensor& t) {
  int64_t n = 1;
  for (int d = t.dl.ndim - 1; d >= 0; --d) {
    if (t.dl.shape[d] != 1 && t.dl.strides[d] != n) return false;
    n *= t.dl.shape[d];
  }
  return true;
}

/// Shape and precision of an inferred output.
struct TensorType {
  std::vector<int64_t> shape;  ///< extents, the outermost axis first
  int precision;               ///< in bits, 1 to 32
};

/// A plan for a device: data and scratch lie in its memory. start() may be called from several
/// threads at once, and may return before the stream has done its work.
struct DevicePlan {
  virtual ~DevicePlan() = default;
  /// Runs the call, or queues it on `stream`. `in` and `out` have an address of element (0, ..., 0)
  /// for each tensor; `scratch` has scratch_bytes().
  virtual void start(
      const int32_t* const* in, int32_t* const* out, void* scratch, void* stream) const = 0;
  /// A kernel name of the manifest.
  virtual const char* path() const = 0;
  /// How many bytes of scratch memory one start() needs.
  virtual uint64_t scratch_bytes() const { return 0; }
};

/// A plan for data in host memory. run() may be called from several threads at once.
struct Plan : DevicePlan {
  /// Runs the call, as start() does, and returns when the outputs are written.
  virtual void run(const int32_t* const* in, int32_t* const* out, void* scratch) const = 0;
  /// Calls run(); the host has no stream.
  void start(const int32_t* const* in, int32_t* const* out, void* scratch, void*) const final {
    run(in, out, scratch);
  }
};

namespace detail {

inline constexpr std::size_t kMostExtents = 6;  // for which infer() has room

inline int32_t fill(ls_status* s, int32_t code, std::string_view label, std::string_view text) {
  const auto copy = [](char* to, std::size_t room, std::string_view from) {
    const std::size_t n = std::min(room - 1, from.size());
    std::memcpy(to, from.data(), n);
    to[n] = '\0';
  };
  if (s) {
    s->code = code;
    copy(s->label, sizeof s->label, label);
    copy(s->text, sizeof s->text, text);
  }
  return code;
}

/// Runs f and turns every exception into a status.
template <class F> int32_t guarded(ls_status* s, F f) {
  try {
    f();
    return LS_OK;
  } catch (const LogicError& e) {
    return fill(s, LS_LOGIC, e.label, e.what());
  } catch (const Unsupported& e) {
    return fill(s, LS_UNSUPPORTED, "", e.what());
  } catch (const std::bad_alloc& e) {
    // The standard library's own exception has no sentence, that for a device has.
    const bool has_text = std::string_view(e.what()) != std::bad_alloc().what();
    return fill(s, LS_RUNTIME, LS_NO_MEMORY, has_text ? e.what() : "there is too little memory");
  } catch (const std::exception& e) {
    return fill(s, LS_RUNTIME, "", e.what());
  } catch (...) {
    return fill(s, LS_RUNTIME, "", "an exception that is no std::exception");
  }
}

template <class Backend> struct Functions {
  static Backend* self(ls_backend* b) { return reinterpret_cast<Backend*>(b); }

  static int32_t open(const ls_text* options, uint32_t n, ls_backend** out, ls_status* s) {
    return guarded(s, [&] {
      Options o;
      for (uint32_t i = 0; i < n; ++i) o[options[i].key] = options[i].value;
      *out = reinterpret_cast<ls_backend*>(new Backend(o));
    });
  }
  static void close(ls_backend* b) { delete self(b); }
  static void* alloc(ls_backend* b, uint64_t bytes, uint64_t align, ls_status* s) {
    void* memory = nullptr;
    guarded(s, [&] { memory = self(b)->alloc(bytes, align); });
    return memory;
  }
  static void free(ls_backend* b, void* memory) { self(b)->free(memory); }
  static int32_t upload(
      ls_backend* b, void* device, const void* host, uint64_t bytes, ls_status* s) {
    return guarded(s, [&] { self(b)->upload(device, host, bytes); });
  }
  static int32_t download(
      ls_backend* b, void* host, const void* device, uint64_t bytes, ls_status* s) {
    return guarded(s, [&] { self(b)->download(host, device, bytes); });
  }
  static int32_t stream(ls_backend* b, void** stream, ls_status* s) {
    return guarded(s, [&] { *stream = self(b)->stream(); });
  }
  static int32_t wait(ls_backend* b, void* stream, ls_status* s) {
    return guarded(s, [&] { self(b)->wait(stream); });
  }
  static int32_t prepare(ls_backend* b, const char* op, const ls_attr* attrs, uint32_t n_attrs,
      const ls_tensor* in, uint32_t n_in, const ls_tensor* out, uint32_t n_out, ls_plan** plan,
      uint64_t* scratch, ls_status* s) {
    return guarded(s, [&] {
      std::unique_ptr<DevicePlan> p =
          self(b)->prepare(Call{op, {attrs, n_attrs}, {in, n_in}, {out, n_out}});
      *scratch = p->scratch_bytes();
      *plan = reinterpret_cast<ls_plan*>(p.release());
    });
  }
  static int32_t compile(ls_backend* b, const ls_node* nodes, uint32_t n_nodes,
      const ls_tensor* entries, uint32_t n_entries, const uint32_t* feeds, uint32_t n_feeds,
      const uint32_t* heads, uint32_t n_heads, ls_plan** plan, uint64_t* scratch, ls_status* s) {
    return guarded(s, [&] {
      const Graph g{{nodes, n_nodes}, {entries, n_entries}, {feeds, n_feeds}, {heads, n_heads}};
      check_graph(g);
      std::unique_ptr<DevicePlan> p = self(b)->compile(g);
      *scratch = p->scratch_bytes();
      *plan = reinterpret_cast<ls_plan*>(p.release());
    });
  }
  static int32_t execute(const ls_plan* plan, const void* const* in, void* const* out,
      void* scratch, void* stream, ls_status* s) {
    return guarded(s, [&] {
      reinterpret_cast<const DevicePlan*>(plan)->start(reinterpret_cast<const int32_t* const*>(in),
          reinterpret_cast<int32_t* const*>(out), scratch, stream);
    });
  }
  static void release(ls_plan* plan) { delete reinterpret_cast<DevicePlan*>(plan); }
  static const char* path(const ls_plan* plan) {
    return reinterpret_cast<const DevicePlan*>(plan)->path();
  }
  static uint32_t threads(const ls_backend* b) {
    return static_cast<uint32_t>(reinterpret_cast<const Backend*>(b)->threads());
  }
  static int32_t padding(
      ls_backend* b, const ls_tensor* t, int64_t* before, int64_t* after, ls_status* s) {
    const auto rank = static_cast<std::size_t>(t->dl.ndim);
    return guarded(s, [&] { self(b)->padding(*t, {before, rank}, {after, rank}); });
  }
  static int32_t infer(ls_backend* b, const char* op, const ls_attr* attrs, uint32_t n_attrs,
      const ls_tensor* in, uint32_t n_in, ls_tensor* out, uint32_t* n_out, ls_status* s) {
    return guarded(s, [&] {
      const std::vector<TensorType> types =
          self(b)->infer(Call{op, {attrs, n_attrs}, {in, n_in}, {}});
      if (types.size() > *n_out) throw std::runtime_error("no room for the outputs' types");
      for (const TensorType& t : types)
        if (t.shape.size() > kMostExtents) throw std::runtime_error("no room for an output's rank");
      for (std::size_t k = 0; k < types.size(); ++k) {
        out[k].dl.ndim = static_cast<int32_t>(types[k].shape.size());
        out[k].precision = types[k].precision;
        std::copy(types[k].shape.begin(), types[k].shape.end(), out[k].dl.shape);
      }
      *n_out = static_cast<uint32_t>(types.size());
    });
  }
};

}  // namespace detail

/// The ABI's table for a class with `static const char* manifest()`, a constructor from Options and
/// `std::unique_ptr<Plan> prepare(const Call&)`. Optional are `std::vector<TensorType> infer(const
/// Call&)`, `std::unique_ptr<Plan> compile(const Graph&)`, `int threads() const`, `void
/// padding(const ls_tensor&, std::span<int64_t> before, std::span<int64_t> after)`, and `static
/// constexpr bool kInt8Constants`, ls_api::int8_constants. A device's class prepares a
/// `std::unique_ptr<DevicePlan>` and has `alloc`, `free`, `upload`, `download`, `stream` and `wait`
/// like the ABI's, without `self` and `status`.
template <class Backend> const ls_api* table() {
  using F = detail::Functions<Backend>;
  static const ls_api api = [] {
    ls_api t{};
    t.abi = LOCKSTEP_ABI;
    t.size = sizeof(ls_api);
    t.manifest = Backend::manifest;
    t.open = F::open;
    t.close = F::close;
    if constexpr (requires(Backend & b) { b.alloc(uint64_t{}, uint64_t{}); }) {
      t.alloc = F::alloc;
      t.free = F::free;
      t.upload = F::upload;
      t.download = F::download;
      t.stream = F::stream;
      t.wait = F::wait;
    }
    t.prepare = F::prepare;
    t.execute = F::execute;
    t.release = F::release;
    t.path = F::path;
    if constexpr (requires(Backend & b, const Call& c) { b.infer(c); }) t.infer = F::infer;
    if constexpr (requires(Backend & b, const Graph& g) { b.compile(g); }) t.compile = F::compile;
    if constexpr (requires(const Backend& b) { b.threads(); }) t.threads = F::threads;
    if constexpr (requires(Backend & b, const ls_tensor& x, std::span<int64_t> p) {
                    b.padding(x, p, p);
                  })
      t.padding = F::padding;
    if constexpr (requires { Backend::kInt8Constants; }) t.int8_constants = Backend::kInt8Constants;
    return t;
  }();
  return &api;
}

}  // namespace lockstep::backend
