/// @file
/// The documents that the verbs of `lockstep params` print with --json.
#pragma once
#include "conformance/base/form.h"
#include "containers/params/params.h"

namespace lockstep::judge::documents {

using form::Rule;

inline const Rule kDtype{.words = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
                             "uint64", "float16", "float32", "float64"}};
inline const Rule kLabel{.pattern = "^[a-z][a-z0-9_]*$"};
inline const Rule kSome{.filled = true};

/// A tensor without its elements.
struct Head {
  std::string dtype;
  std::vector<i64> shape;
  Head() = default;
  explicit Head(const params::Tensor& t) : dtype(params::dtype_name(t.dtype)), shape(t.shape) {}
};
template <class F> void fields(F& form, const Head& h) {
  form("dtype", h.dtype, kDtype);
  form("shape", h.shape);
}

struct ListedTensor {
  std::string name;
  Head head;
  u64 bytes = 0;
};
template <class F> void fields(F& form, const ListedTensor& t) {
  form("name", t.name, {.text = "As stored: any UTF-8 without NUL, empty too."});
  fields(form, t.head);
  form("bytes", t.bytes);
}

struct Listing {
  std::vector<ListedTensor> tensors;
  u64 data_bytes = 0, file_bytes = 0, trailing_bytes = 0;
};
template <class F> void fields(F& form, const Listing& l) {
  form("tensors", l.tensors);
  form("data_bytes", l.data_bytes);
  form("file_bytes", l.file_bytes);
  form("trailing_bytes", l.trailing_bytes);
}

/// The contents of a file, in numbers.
struct Amount {
  u64 tensors = 0, data_bytes = 0, trailing_bytes = 0;
  Amount() = default;
  explicit Amount(const params::Params& p)
      : tensors(p.tensors.size()),
        data_bytes(params::data_size(p.tensors)),
        trailing_bytes(p.trailing_bytes) {}
};
template <class F> void fields(F& form, const Amount& a, bool there = true) {
  form.when(there, "tensors", a.tensors);
  form.when(there, "data_bytes", a.data_bytes);
  form.when(there, "trailing_bytes", a.trailing_bytes);
}

/// The verdict on one file: valid, faulty or not read.
struct FileVerdict {
  std::string file;
  std::optional<Amount> amount = {};
  std::optional<params::Error> error = {};
  std::string not_read = {};
};
template <class F> void fields(F& form, const FileVerdict& v) {
  form("file", v.file, kSome);
  form("valid", v.amount.has_value());
  fields(form, v.amount.value_or(Amount()), v.amount.has_value());
  const auto describe = [&](auto& error) {
    error("label", v.error ? v.error->label() : "", kLabel);
    error("offset", v.error ? v.error->offset() : 0);
    error("tensor", v.error ? v.error->tensor() : std::nullopt);
    error("message", v.error ? v.error->what() : "", kSome);
  };
  form.optional_object("error", v.error.has_value(), describe);
  form.optional("not_read", v.not_read, {.text = "Why.", .filled = true});
}

struct Verification {
  std::vector<FileVerdict> files;
  u64 valid = 0;
};
template <class F> void fields(F& form, const Verification& v) {
  form("files", v.files, kSome);
  form("valid", v.valid, {.text = "How many of the files are."});
}

struct DumpedTensor {
  std::string name;
  Head head;
  u64 elements = 0;
  std::vector<form::NumberOrWord> values;
};
template <class F> void fields(F& form, const DumpedTensor& t) {
  form("name", t.name);
  fields(form, t.head);
  form("elements", t.elements);
  form("values", t.values,
      {.text = "In row-major order, the first of them only; exact; nan, inf and -inf are text."});
}

struct Dump {
  std::vector<DumpedTensor> tensors;
};
template <class F> void fields(F& form, const Dump& d) { form("tensors", d.tensors); }

struct DifferingValues {
  u64 differing = 0, elements = 0, index = 0;
  form::NumberOrWord first, second;
};
template <class F> void fields(F& form, const DifferingValues& d) {
  form("differing", d.differing);
  form("elements", d.elements);
  form("index", d.index);
  form("first", d.first);
  form("second", d.second);
}

struct DifferingTensor {
  std::string aspect, name;
  std::optional<Head> first, second;
  std::optional<DifferingValues> values;
};
template <class F> void fields(F& form, const DifferingTensor& d) {
  constexpr const char* kSide = "The tensor in this file; null where it is missing.";
  form("aspect", d.aspect,
      {.words = {"only_in_first", "only_in_second", "dtype", "shape", "values", "order"}});
  form("name", d.name);
  form("first", d.first, {.text = kSide});
  form("second", d.second, {.text = kSide});
  form.when(d.values.has_value(), "values", d.values.value_or(DifferingValues()));
}

struct Differences {
  std::string first, second;
  std::vector<DifferingTensor> differences;
};
template <class F> void fields(F& form, const Differences& d) {
  form("first", d.first, kSome);
  form("second", d.second, kSome);
  form("differences", d.differences);
}

struct Conversion {
  std::string from, to;
  Amount amount;
};
template <class F> void fields(F& form, const Conversion& c) {
  form("from", c.from, kSome);
  form("to", c.to, kSome);
  fields(form, c.amount);
}

struct ListedLabel {
  std::string_view label, of, text;
};
template <class F> void fields(F& form, const ListedLabel& l) {
  form("label", l.label, kLabel);
  form("of", l.of, {.words = {"file", "archive"}, .text = "An archive has those of a file too."});
  form("text", l.text, kSome);
}

struct Labels {
  std::vector<ListedLabel> labels;
};
template <class F> void fields(F& form, const Labels& l) { form("labels", l.labels, kSome); }

using Document = std::variant<Listing, Verification, Dump, Differences, Conversion, Labels>;
inline std::string schema() { return form::schema<Document>("A document of lockstep params"); }

}  // namespace lockstep::judge::documents
