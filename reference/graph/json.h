/// @file
/// JSON that somebody else wrote: parsed without trust, read with the place of every fault.
#pragma once
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/arithmetic.h"

namespace lockstep::graph {

/// A JSON value of nlohmann's library.
using Json = nlohmann::json;

/// A value that ends without more memory. The library's own destructor allocates some, and ends the
/// program where there is none.
class Document {
 public:
  /// Null.
  Document() = default;
  /// Takes a value.
  explicit Document(Json root) : root_(std::move(root)) {}
  /// Takes the value; the other one is null afterwards.
  Document(Document&& other) noexcept : root_(std::move(other.root_)) {}
  Document& operator=(Document&&) = delete;
  ~Document();

  /// The value.
  Json& operator*() { return root_; }
  /// The value, to be read.
  const Json& operator*() const { return root_; }

 private:
  Json root_;
};

/// Containers inside one another; a model needs five.
inline constexpr std::size_t kMaxDepth = 16;

/// Where a value stands in a document; spelt out only when something is wrong with it. Messages
/// call the document itself so.
struct Place {
  const Place* parent = nullptr;  ///< of the value that holds this one; null for the document
  std::string_view key = {};      ///< in the object around it
  i64 index = -1;                 ///< in the list around it; -1 where that is an object

  /// The place of a member of this object.
  Place at(std::string_view k) const { return {this, k}; }
  /// The place of an element of this list.
  Place at(i64 i) const { return {this, {}, i}; }
  /// The path: "nodes[12].inputs[1]"; empty for the document.
  std::string text() const;
};

/// A key an object may have.
struct Key {
  std::string_view name;  ///< as the document spells it
  bool required = false;  ///< whether an object without it is refused
};

/// Parses a JSON object that names no key twice and nests at most kMaxDepth deep.
/// @throws Error model.json
Document parse_object(std::string_view text, const Place& place);

// What a value must be; each throws Error model.key where it is not.

/// An object with these keys, the required ones among them. Of unknown keys the bytewise smallest
/// is named, before a missing one.
const Json& as_object(const Json& value, const Place& place, std::initializer_list<Key> keys);
/// A list.
const Json& as_array(const Json& value, const Place& place);
/// A text.
const std::string& as_text(const Json& value, const Place& place);
/// A JSON integer inside int64: 1.0 is none.
i64 as_integer(const Json& value, const Place& place);

/// The list of `[form, [...]]`, as attributes of a graph are written.
const Json& as_list(const Json& value, const Place& place, std::string_view form);
/// A list of integers inside int64.
std::vector<i64> as_integers(const Json& array, const Place& place);

}  // namespace lockstep::graph
