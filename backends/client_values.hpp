/// @file
/// The values that a client of the ABI exchanges with a backend; client.hpp has the functions.
///
/// License: Apache-2.0 OR MIT.
#pragma once
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/backend.h"

namespace lockstep::client {

/// A code in addition to the ABI's: the backend broke the contract, and `text` says how.
inline constexpr int32_t kBroken = -1;

/// A function of a backend did not return LS_OK.
class Error : public std::runtime_error {
 public:
  /// From the function's name, its code, the label of the violated rule and the backend's sentence.
  Error(const char* function, int32_t error_code, std::string error_label, const std::string& text)
      : std::runtime_error(std::string(function) + "() failed" +
            (error_label.empty() ? "" : ": " + error_label) + (text.empty() ? "" : ": " + text)),
        code(error_code),
        label(std::move(error_label)) {}
  int32_t code;       ///< LS_LOGIC ... or kBroken
  std::string label;  ///< of the violated rule, or ""
};

/// The result of a function of a backend.
struct [[nodiscard]] Status {
  const char* function = "";  ///< the function's name
  int32_t code = LS_OK;       ///< LS_OK ... or kBroken
  std::string label;          ///< of the violated rule, as the backend wrote it
  std::string text;           ///< the backend's sentence, even after LS_OK

  /// Whether the function succeeded.
  bool ok() const { return code == LS_OK; }
  /// @throws Error unless ok.
  void check() const {
    if (!ok()) throw Error(function, code, label, text);
  }
};

/// A status, and a value if it is ok.
template <class T> class [[nodiscard]] Result {
 public:
  /// A failure without a value.
  Result(Status status) : status_(std::move(status)) {}
  /// A success.
  Result(T value, Status status = {}) : status_(std::move(status)), value_(std::move(value)) {}

  /// The status that the backend returned.
  const Status& status() const { return status_; }
  /// Whether there is a value.
  bool ok() const { return value_.has_value(); }
  /// The value, moved out. @throws Error if there is none.
  T value() && {
    status_.check();
    return std::move(*value_);
  }
  /// The value. @throws Error if there is none.
  T& operator*() {
    status_.check();
    return *value_;
  }
  /// The value's members. @throws Error if there is none.
  T* operator->() { return &**this; }

 private:
  Status status_;
  std::optional<T> value_;
};

/// Options of open(): name to value.
using Options = std::map<std::string, std::string>;

/// The attributes of a call in the specification's order. Owns the data to which its rows point.
class Attributes {
 public:
  Attributes() = default;
  /// Leaves the other without attributes.
  Attributes(Attributes&&) noexcept = default;
  /// Leaves the other without attributes.
  Attributes& operator=(Attributes&&) noexcept = default;

  /// Adds an integer.
  Attributes& integer(std::string_view key, int64_t v) { return add(key, LS_INT, {&v, 1}); }
  /// Adds a boolean.
  Attributes& boolean(std::string_view key, bool v) {
    const int64_t number = v;
    return add(key, LS_BOOL, {&number, 1});
  }
  /// Adds a list of integers.
  Attributes& tuple(std::string_view key, std::span<const int64_t> v) {
    return add(key, LS_TUPLE, v);
  }
  /// Adds a word; for a backend that claims text, any attribute's text.
  Attributes& word(std::string_view key, std::string_view v) { return add(key, LS_TEXT, {}, v); }
  /// Adds an attribute without a value.
  Attributes& none(std::string_view key) { return add(key, LS_NONE, {}); }

  /// The rows as the ABI takes them, valid while no attribute is added.
  std::span<const ls_attr> rows() const { return rows_; }

 private:
  // Items live in a list, so that moving the object does not move them.
  struct Item {
    std::string key, word;
    std::vector<int64_t> ints;
  };
  Attributes& add(std::string_view key, int32_t kind, std::span<const int64_t> ints,
      std::string_view word = {}) {
    Item& i =
        items_.emplace_back(Item{std::string(key), std::string(word), {ints.begin(), ints.end()}});
    i.ints.reserve(1);  // so that an empty list has an address, too
    rows_.push_back({i.key.c_str(), kind, static_cast<uint32_t>(i.ints.size()),
        kind == LS_TEXT || kind == LS_NONE ? nullptr : i.ints.data(),
        kind == LS_TEXT ? i.word.c_str() : nullptr});
    return *this;
  }

  std::list<Item> items_;
  std::vector<ls_attr> rows_;
};

/// A tensor for prepare() and infer(). The caller keeps shape and strides valid until the function
/// returns, and the data of a constant until the plan is released.
struct TensorView {
  std::span<const int64_t> shape;    ///< the extents
  std::span<const int64_t> strides;  ///< in elements, as many as there are extents
  int32_t precision = 32;            ///< bits of a value, 1 to 32
  const void* constant = nullptr;    ///< the address of element (0, ..., 0), of a constant only
  bool is_int8 = false;  ///< a constant for compile(), where Library::has_int8_constants(): compact
};

/// The views as the ABI takes them, valid as long as the viewed shapes and strides.
/// @throws std::logic_error if a tensor does not have one stride for each extent.
inline std::vector<ls_tensor> rows_of(std::span<const TensorView> views, bool on_device = false) {
  std::vector<ls_tensor> rows;
  rows.reserve(views.size());
  for (const TensorView& v : views) {
    if (v.shape.size() != v.strides.size())
      throw std::logic_error("a tensor needs a stride for each of its extents");
    ls_tensor& t = rows.emplace_back();
    t.dl.device = {on_device ? kDLExtDev : kDLCPU, 0};
    t.dl.ndim = static_cast<int32_t>(v.shape.size());
    t.dl.dtype = {kDLInt, static_cast<uint8_t>(v.is_int8 ? 8 : 32), 1};
    t.dl.shape = const_cast<int64_t*>(v.shape.data());
    t.dl.strides = const_cast<int64_t*>(v.strides.data());
    t.dl.data = const_cast<void*>(v.constant);
    t.precision = v.precision;
    t.flags = v.constant ? LS_CONSTANT : 0;
  }
  return rows;
}

/// Shape and precision of an inferred output.
struct TensorType {
  std::vector<int64_t> shape;  ///< the extents
  int32_t precision;           ///< bits of a value
};

/// Elements before and after a tensor's own, along each axis.
struct Padding {
  std::vector<int64_t> before;  ///< one number per extent
  std::vector<int64_t> after;   ///< likewise
};

/// The call of an operator.
struct Call {
  std::string op;               ///< the canonical name
  Attributes attrs;             ///< all attributes with an effect, in the specification's order
  std::vector<TensorView> in;   ///< the inputs
  std::vector<TensorView> out;  ///< the outputs; infer() ignores them
};

/// A call in a graph, whose tensors are numbers of the graph's entries.
struct Node {
  std::string op;             ///< the canonical name
  Attributes attrs;           ///< as in a Call
  std::vector<uint32_t> in;   ///< the entries it reads
  std::vector<uint32_t> out;  ///< the entries it writes
};

/// A graph for compile().
struct Graph {
  std::vector<Node> nodes;          ///< in topological order
  std::vector<TensorView> entries;  ///< the tensors between them
  std::vector<uint32_t> feeds;      ///< the entries that are inputs of execute()
  std::vector<uint32_t> heads;      ///< the entries that are outputs of execute()
};

}  // namespace lockstep::client
