/// @file
/// The caller's side of the ABI in C++20, the mirror of backend.hpp: it needs backend.h, DLPack's
/// header and the standard library, nothing else of Lockstep.
///
///     auto backend = client::Backend::open(client::Library::load("./cpu.so"), {{"threads", "4"}});
///     auto x = backend->tensor({2, 3}, 8).value(), y = backend->tensor({2, 3}, 8).value();
///     auto plan = backend->prepare({"relu", {}, {x.view()}, {y.view()}}).value();
///     x.write(values).check();
///     plan.run({x.data()}, {y.data()}).check();
///
/// A function that a backend can refuse returns a Status or a Result: inspect it, or let check()
/// and value() throw an Error. A mistake of the caller throws std::logic_error. Handles are
/// move-only, and each keeps its backend open. Several threads may use one handle at once if the
/// ABI lets them call the function.
///
/// License: Apache-2.0 OR MIT.
#pragma once
#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "backends/client_values.hpp"

namespace lockstep::client {

/// The alignment of scratch memory, which the ABI demands.
inline constexpr uint64_t kAlignment = 64;
/// The most extents of a shape that infer() returns, fixed by the ABI.
inline constexpr int kRankMax = 6;

/// The file is no backend that this client supports.
struct LoadError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The table of a backend. A library is never unloaded, because threads that it started may still
/// run its code.
class Library {
 public:
  /// Loads the shared library at a path. @throws LoadError saying why it is no backend.
  static Library load(const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) throw LoadError(std::string("no library: ") + dlerror());
    void* entry = dlsym(handle, "lockstep_backend_v1");
    if (!entry) throw LoadError("it exports no symbol lockstep_backend_v1");
    return Library(reinterpret_cast<const ls_api* (*)()>(entry)());
  }
  /// A table that is linked in. Functions beyond its size are absent.
  /// @throws LoadError unless it has this version and every function that is not optional.
  explicit Library(const ls_api* table) {
    if (!table) throw LoadError("lockstep_backend_v1() returned no table");
    if (table->abi != LOCKSTEP_ABI)
      throw LoadError("it speaks ABI version " + std::to_string(table->abi) +
          ", this program speaks version " + std::to_string(LOCKSTEP_ABI));
    std::memcpy(&api_, table, std::min<std::size_t>(table->size, sizeof api_));
    if (!api_.manifest || !api_.open || !api_.close || !api_.prepare || !api_.execute ||
        !api_.release || !api_.path)
      throw LoadError("a required function of its table is missing");
    const int device =
        !!api_.alloc + !!api_.free + !!api_.upload + !!api_.download + !!api_.stream + !!api_.wait;
    if (device != 0 && device != 6)
      throw LoadError("its table has some of the six functions of a device, not all");
  }

  /// The manifest, JSON text. @throws LoadError if there is none.
  std::string manifest() const {
    const char* text = api_.manifest();
    if (!text || !*text) throw LoadError("it has no manifest");
    return text;
  }
  /// Whether tensors lie in the backend's own memory.
  bool has_device() const { return api_.alloc != nullptr; }
  /// Whether Backend::infer() is offered.
  bool has_infer() const { return api_.infer != nullptr; }
  /// Whether Backend::compile() is offered.
  bool has_compile() const { return api_.compile != nullptr; }
  /// Whether Backend::compile() also takes constants of int8.
  bool has_int8_constants() const { return has_compile() && api_.int8_constants != 0; }
  /// The table itself; functions that the backend lacks are null.
  const ls_api& api() const { return api_; }

 private:
  ls_api api_{};
};

/// @cond
namespace detail {

/// An opened backend, shared by all its handles; the last one closes it.
struct Opened {
  explicit Opened(const Library& of) : library(of) {}
  Opened(const Opened&) = delete;
  ~Opened() {
    if (self) library.api().close(self);
  }
  Library library;
  ls_backend* self = nullptr;
};
using Shared = std::shared_ptr<const Opened>;

/// @throws std::logic_error if the handle was moved from.
inline const Opened& held(const Shared& opened) {
  if (!opened) throw std::logic_error("this handle of a backend has been moved from");
  return *opened;
}

/// Calls f with a fresh ls_status and returns its result as a Status.
template <class F> Status say(const char* function, F f) {
  ls_status s{};
  s.size = sizeof s;
  const int32_t code = f(&s);
  if (code == LS_OK) return {function, code, {}, {}};
  const auto text = [](const auto& of) { return std::string(of, strnlen(of, sizeof of)); };
  if (code > LS_OK && code <= LS_UNSUPPORTED) return {function, code, text(s.label), text(s.text)};
  return {function, kBroken, text(s.label), "answered the unknown status " + std::to_string(code)};
}
inline Status broken(const char* function, std::string how) {
  return {function, kBroken, {}, std::move(how)};
}
inline Status absent(const char* function) {
  return {function, LS_UNSUPPORTED, "", "the backend has no such function"};
}

template <class Container> uint32_t count(const Container& c) {
  return static_cast<uint32_t>(c.size());
}

}  // namespace detail
/// @endcond

/// Memory in which a backend computes: its device's, or the host's.
class Memory {
 public:
  /// Use Backend::allocate.
  Memory(detail::Shared opened, void* data, uint64_t bytes, uint64_t align)
      : opened_(std::move(opened)), data_(data), bytes_(bytes), align_(align) {}
  /// Leaves the other without a backend.
  Memory(Memory&& other) noexcept { swap(other); }
  /// Leaves the other without a backend.
  Memory& operator=(Memory&& other) noexcept {
    Memory(std::move(other)).swap(*this);
    return *this;
  }
  ~Memory() {
    if (!data_) return;
    if (opened_->library.has_device())
      opened_->library.api().free(opened_->self, data_);
    else
      ::operator delete (data_, std::align_val_t{align_});
  }

  /// Its address. Only the backend may dereference it if the backend has a device.
  void* data() const { return data_; }
  /// Its length.
  uint64_t bytes() const { return bytes_; }
  /// Copies from host memory to its beginning. @throws std::logic_error if it is too small.
  Status write(const void* from, uint64_t bytes) {
    const detail::Opened& o = within(bytes);
    if (o.library.has_device())
      return detail::say("upload",
          [&](ls_status* s) { return o.library.api().upload(o.self, data_, from, bytes, s); });
    std::copy_n(static_cast<const char*>(from), bytes, static_cast<char*>(data_));
    return {"upload", LS_OK, {}, {}};
  }
  /// Copies its beginning to host memory. @throws std::logic_error if it has fewer bytes.
  Status read(void* to, uint64_t bytes) const {
    const detail::Opened& o = within(bytes);
    if (o.library.has_device())
      return detail::say("download",
          [&](ls_status* s) { return o.library.api().download(o.self, to, data_, bytes, s); });
    std::copy_n(static_cast<const char*>(data_), bytes, static_cast<char*>(to));
    return {"download", LS_OK, {}, {}};
  }

 private:
  const detail::Opened& within(uint64_t bytes) const {
    const detail::Opened& o = detail::held(opened_);
    if (bytes > bytes_)
      throw std::logic_error("a copy of " + std::to_string(bytes) + " bytes, the memory has " +
          std::to_string(bytes_));
    return o;
  }
  void swap(Memory& other) noexcept {
    std::swap(opened_, other.opened_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(align_, other.align_);
  }

  detail::Shared opened_;
  void* data_ = nullptr;
  uint64_t bytes_ = 0, align_ = kAlignment;
};

/// A row-major tensor in the backend's memory, such as a weight or an intermediate result.
class DeviceTensor {
 public:
  /// Use Backend::tensor.
  DeviceTensor(std::vector<int64_t> shape, int32_t precision, Memory memory)
      : shape_(std::move(shape)),
        strides_(shape_.size()),
        precision_(precision),
        memory_(std::move(memory)) {
    int64_t n = 1;
    for (std::size_t d = shape_.size(); d-- > 0; n *= shape_[d]) strides_[d] = n;
  }

  /// A view for an input or output whose data execute() gets.
  TensorView view() const { return {shape_, strides_, precision_, nullptr}; }
  /// A view for a constant input: prepare() gets its data, which the plan keeps using.
  TensorView constant() const { return {shape_, strides_, precision_, memory_.data()}; }
  /// The address of its first element.
  void* data() const { return memory_.data(); }
  /// Its extents.
  const std::vector<int64_t>& shape() const { return shape_; }
  /// The bits of its values.
  int32_t precision() const { return precision_; }
  /// The number of its elements.
  std::size_t volume() const { return memory_.bytes() / sizeof(int32_t); }
  /// Copies elements to it. @throws std::logic_error if the number of elements differs.
  Status write(std::span<const int32_t> from) {
    expect(from.size());
    return memory_.write(from.data(), from.size_bytes());
  }
  /// Copies its elements. @throws std::logic_error if the number of elements differs.
  Status read(std::span<int32_t> to) const {
    expect(to.size());
    return memory_.read(to.data(), to.size_bytes());
  }

 private:
  void expect(std::size_t n) const {
    if (n != volume())
      throw std::logic_error(
          std::to_string(n) + " elements for a tensor of " + std::to_string(volume()));
  }

  std::vector<int64_t> shape_, strides_;
  int32_t precision_;
  Memory memory_;
};

/// A stream on which calls run in order. On the host each call is done when it returns.
class Stream {
 public:
  /// Use Backend::stream.
  Stream(detail::Shared opened, void* stream) : opened_(std::move(opened)), stream_(stream) {}
  /// Leaves the other without a backend.
  Stream(Stream&&) noexcept = default;
  /// Leaves the other without a backend.
  Stream& operator=(Stream&&) noexcept = default;

  /// Waits for the work on it.
  Status wait() const {
    const detail::Opened& o = detail::held(opened_);
    if (!o.library.has_device()) return {"wait", LS_OK, {}, {}};
    return detail::say(
        "wait", [&](ls_status* s) { return o.library.api().wait(o.self, stream_, s); });
  }
  /// The handle for execute(); NULL on the host.
  void* handle() const { return stream_; }

 private:
  detail::Shared opened_;
  void* stream_;
};

/// A prepared call, or a compiled graph.
class Plan {
 public:
  /// Use Backend::prepare.
  Plan(detail::Shared opened, ls_plan* plan, uint64_t scratch_bytes)
      : opened_(std::move(opened)), plan_(plan), scratch_bytes_(scratch_bytes) {}
  /// Leaves the other without a backend.
  Plan(Plan&& other) noexcept { swap(other); }
  /// Leaves the other without a backend.
  Plan& operator=(Plan&& other) noexcept {
    Plan(std::move(other)).swap(*this);
    return *this;
  }
  ~Plan() {
    if (plan_) opened_->library.api().release(plan_);
  }

  /// The kernel that it runs.
  std::string path() const {
    const char* name = detail::held(opened_).library.api().path(plan_);
    return name ? name : "";
  }
  /// The bytes of scratch memory that each execution needs for itself.
  uint64_t scratch_bytes() const { return scratch_bytes_; }
  /// Starts it. Data and scratch are addresses in any memory that the backend can reach. On a
  /// device the work is done after Stream::wait().
  Status execute(std::span<const void* const> in, std::span<void* const> out, void* scratch,
      void* stream = nullptr) const {
    const ls_api& api = detail::held(opened_).library.api();
    return detail::say("execute", [&](ls_status* s) {
      return api.execute(plan_, in.data(), out.data(), scratch, stream, s);
    });
  }
  /// Runs it once to its end, with a temporary stream and scratch memory.
  Status run(std::initializer_list<const void*> in, std::initializer_list<void*> out) const;

 private:
  void swap(Plan& other) noexcept {
    std::swap(opened_, other.opened_);
    std::swap(plan_, other.plan_);
    std::swap(scratch_bytes_, other.scratch_bytes_);
  }

  detail::Shared opened_;
  ls_plan* plan_ = nullptr;
  uint64_t scratch_bytes_ = 0;
};

/// An opened backend.
class Backend {
 public:
  /// Opens it with options.
  static Result<Backend> open(const Library& library, const Options& options = {}) {
    std::vector<ls_text> texts;
    for (const auto& [key, value] : options) texts.push_back({key.c_str(), value.c_str()});
    auto opened = std::make_shared<detail::Opened>(library);
    ls_backend* self = nullptr;
    Status status = detail::say("open", [&](ls_status* s) {
      return library.api().open(texts.data(), detail::count(texts), &self, s);
    });
    if (!status.ok()) return status;
    if (!self) return detail::broken("open", "open() succeeded without a backend");
    opened->self = self;
    return Result<Backend>(Backend(std::move(opened)), std::move(status));
  }
  /// Leaves the other without a backend.
  Backend(Backend&&) noexcept = default;
  /// Leaves the other without a backend.
  Backend& operator=(Backend&&) noexcept = default;

  /// The library it was opened from.
  const Library& library() const { return detail::held(opened_).library; }
  /// The number of threads that a call may use; 0 if the backend does not say.
  uint32_t threads() const {
    const detail::Opened& o = detail::held(opened_);
    return o.library.api().threads ? o.library.api().threads(o.self) : 0;
  }

  /// The padding that the backend wishes for a tensor between calls; 0 everywhere without a wish.
  Result<Padding> padding(const TensorView& tensor) const {
    const detail::Opened& o = detail::held(opened_);
    const std::size_t rank = tensor.shape.size();
    Padding p{std::vector<int64_t>(rank), std::vector<int64_t>(rank)};
    if (!o.library.api().padding) return p;
    const ls_tensor row = rows_of({&tensor, 1}, o.library.has_device())[0];
    Status status = detail::say("padding", [&](ls_status* s) {
      return o.library.api().padding(o.self, &row, p.before.data(), p.after.data(), s);
    });
    if (!status.ok()) return status;
    return {std::move(p), std::move(status)};
  }

  /// Memory of the backend's device or, if it has none, of the host. On the host it has exactly the
  /// requested size, so that a sanitizer sees the first byte beyond.
  Result<Memory> allocate(uint64_t bytes, uint64_t align = kAlignment) const {
    const detail::Opened& o = detail::held(opened_);
    void* data = nullptr;
    Status status = detail::say("alloc", [&](ls_status* s) -> int32_t {
      data = o.library.has_device() ? o.library.api().alloc(o.self, bytes, align, s)
                                    : ::operator new (bytes, std::align_val_t{align}, std::nothrow);
      return data ? LS_OK : LS_RUNTIME;
    });
    if (data) return {Memory(opened_, data, bytes, align), std::move(status)};
    if (!o.library.has_device())
      return Status{"alloc", LS_RUNTIME, LS_NO_MEMORY, std::to_string(bytes) + " bytes asked for"};
    if (status.text.empty()) status.text = "alloc() returned nothing";
    return status;
  }
  /// Memory for a row-major tensor of extents > 0.
  Result<DeviceTensor> tensor(
      std::vector<int64_t> shape, int32_t precision = 32, uint64_t align = kAlignment) const {
    uint64_t bytes = sizeof(int32_t);
    for (const int64_t extent : shape)
      if (extent < 1 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes))
        throw std::logic_error("a tensor with an extent of " + std::to_string(extent));
    Result<Memory> memory = allocate(bytes, align);
    if (!memory.ok()) return memory.status();
    return DeviceTensor(std::move(shape), precision, std::move(*memory));
  }
  /// A stream for executions.
  Result<Stream> stream() const {
    const detail::Opened& o = detail::held(opened_);
    if (!o.library.has_device()) return Stream(opened_, nullptr);
    void* stream = nullptr;
    Status status = detail::say(
        "stream", [&](ls_status* s) { return o.library.api().stream(o.self, &stream, s); });
    if (!status.ok()) return status;
    return {Stream(opened_, stream), std::move(status)};
  }

  /// Prepares a call.
  Result<Plan> prepare(const Call& call) const {
    const detail::Opened& o = detail::held(opened_);
    const std::span<const ls_attr> attrs = call.attrs.rows();
    const std::vector<ls_tensor> in = rows_of(call.in, o.library.has_device()),
                                 out = rows_of(call.out, o.library.has_device());
    return planned("prepare", [&](ls_plan** plan, uint64_t* scratch, ls_status* s) {
      return o.library.api().prepare(o.self, call.op.c_str(), attrs.data(), detail::count(attrs),
          in.data(), detail::count(in), out.data(), detail::count(out), plan, scratch, s);
    });
  }
  /// Prepares a whole graph; LS_UNSUPPORTED if the backend does not compile graphs.
  Result<Plan> compile(const Graph& graph) const {
    const detail::Opened& o = detail::held(opened_);
    if (!o.library.has_compile()) return detail::absent("compile");
    std::vector<ls_node> nodes;
    for (const Node& n : graph.nodes)
      nodes.push_back({n.op.c_str(), n.attrs.rows().data(), n.in.data(), n.out.data(),
          detail::count(n.attrs.rows()), detail::count(n.in), detail::count(n.out), 0});
    const std::vector<ls_tensor> entries = rows_of(graph.entries, o.library.has_device());
    return planned("compile", [&](ls_plan** plan, uint64_t* scratch, ls_status* s) {
      return o.library.api().compile(o.self, nodes.data(), detail::count(nodes), entries.data(),
          detail::count(entries), graph.feeds.data(), detail::count(graph.feeds),
          graph.heads.data(), detail::count(graph.heads), plan, scratch, s);
    });
  }
  /// The types of a call's outputs, at most `room` of them; LS_UNSUPPORTED if the backend does not
  /// infer types.
  Result<std::vector<TensorType>> infer(const Call& call, uint32_t room = 8) const {
    const detail::Opened& o = detail::held(opened_);
    if (!o.library.has_infer()) return detail::absent("infer");
    const std::span<const ls_attr> attrs = call.attrs.rows();
    const std::vector<ls_tensor> in = rows_of(call.in, o.library.has_device());
    std::vector<int64_t> extents(std::size_t{room} * kRankMax);
    std::vector<ls_tensor> out(room);
    for (std::size_t k = 0; k < room; ++k) out[k].dl.shape = &extents[k * kRankMax];
    uint32_t n = room;
    Status status = detail::say("infer", [&](ls_status* s) {
      return o.library.api().infer(o.self, call.op.c_str(), attrs.data(), detail::count(attrs),
          in.data(), detail::count(in), out.data(), &n, s);
    });
    if (!status.ok()) return status;
    if (n > room)
      return detail::broken("infer", "infer() counts more outputs than there is room for");
    std::vector<TensorType> types;
    for (std::size_t k = 0; k < n; ++k) {
      const DLTensor& t = out[k].dl;
      if (t.ndim < 0 || t.ndim > kRankMax)
        return detail::broken("infer", "infer() gives an output an impossible rank");
      const int64_t* shape = &extents[k * kRankMax];
      types.push_back({{shape, shape + t.ndim}, out[k].precision});
    }
    return {std::move(types), std::move(status)};
  }

 private:
  friend class Plan;
  explicit Backend(detail::Shared opened) : opened_(std::move(opened)) {}

  template <class F> Result<Plan> planned(const char* function, F f) const {
    ls_plan* plan = nullptr;
    uint64_t scratch = 0;
    Status status = detail::say(function, [&](ls_status* s) { return f(&plan, &scratch, s); });
    if (!status.ok()) return status;
    if (!plan)
      return detail::broken(function, std::string(function) + "() succeeded without a plan");
    return {Plan(opened_, plan, scratch), std::move(status)};
  }

  detail::Shared opened_;
};

inline Status Plan::run(
    std::initializer_list<const void*> in, std::initializer_list<void*> out) const {
  detail::held(opened_);
  const Backend backend(opened_);
  Result<Stream> stream = backend.stream();
  if (!stream.ok()) return stream.status();
  std::optional<Memory> scratch;
  if (scratch_bytes_ > 0) {
    Result<Memory> memory = backend.allocate(scratch_bytes_);
    if (!memory.ok()) return memory.status();
    scratch = std::move(*memory);
  }
  Status status = execute({in.begin(), in.size()}, {out.begin(), out.size()},
      scratch ? scratch->data() : nullptr, stream->handle());
  return status.ok() ? stream->wait() : status;
}

}  // namespace lockstep::client
