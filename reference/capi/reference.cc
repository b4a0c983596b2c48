#include "reference/capi/reference.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>

#include "reference/evaluate.h"
#include "spec/attributes.h"
#include "spec/explain.h"

struct lockstep_outputs {
  struct Output {
    std::vector<std::int64_t> shape;
    std::int32_t precision = 0;
    std::vector<std::int32_t> values;  // empty if only types were requested
  };
  std::vector<Output> all;
};

namespace {

using lockstep::Attr;
using lockstep::OpInfo;
using lockstep::Type;
using lockstep::reference::Tensor;

thread_local std::string last_label, last_message;

// A call that breaks a rule.
struct Broken {
  std::string label, message;
};

std::string text_of(const char* text) { return text ? text : ""; }

// The call as the specification knows it.
struct Call {
  const OpInfo* op = nullptr;
  std::vector<Attr> attrs;
  std::vector<Type> in;
  lockstep::Attributes attributes() const { return {attrs.data(), static_cast<int>(attrs.size())}; }
  lockstep::Types types() const { return {in.data(), static_cast<int>(in.size())}; }
};

// The type. An illegal rank stays illegal, but its value is not kept.
Type type_of(const lockstep_type& t) {
  Type type;
  const std::size_t rank = std::min<std::size_t>(t.rank, lockstep::kMaxRank + 1);
  for (std::size_t d = 0; d < rank; ++d) type.shape.push(t.shape ? t.shape[d] : 0);
  type.precision = t.precision;
  return type;
}

Call read(const lockstep_call* given) {
  if (!given) throw Broken{"op.unknown", "there is no call"};
  Call call;
  const std::string name = text_of(given->op);
  call.op = lockstep::find_operator(name);
  if (!call.op) throw Broken{"op.unknown", "no operator '" + name + "'"};
  std::vector<std::pair<std::string, std::string>> texts;
  for (std::size_t i = 0; i < given->attribute_count; ++i)
    texts.emplace_back(text_of(given->attributes[i].name), text_of(given->attributes[i].value));
  lockstep::ReadAttributes attrs = lockstep::read_attributes(*call.op, texts);
  if (!attrs.label.empty()) throw Broken{attrs.label, attrs.message};
  call.attrs = std::move(attrs.values);
  for (std::size_t k = 0; k < given->input_count; ++k) call.in.push_back(type_of(given->inputs[k]));
  return call;
}

Call checked(const lockstep_call* given) {
  Call call = read(given);
  if (const lockstep::Refusal r = check(*call.op, call.attributes(), call.types()); r.refused())
    throw Broken{r.label(), explain(*call.op, r, call.attributes(), call.types())};
  return call;
}

lockstep_outputs::Output output_of(const Type& t, std::vector<std::int32_t> values) {
  return {{t.shape.begin(), t.shape.end()}, t.precision, std::move(values)};
}

// Runs f; an exception becomes a status with a label and a sentence.
template <class F> int answered(F f) {
  try {
    last_label.clear();
    last_message.clear();
    f();
    return LOCKSTEP_OK;
  } catch (Broken& e) {
    last_label = std::move(e.label);
    last_message = std::move(e.message);
    return LOCKSTEP_LOGIC;
  } catch (const std::bad_alloc&) {
    last_message = "out of memory";  // short enough to need no memory
  } catch (const std::exception& e) {
    last_message = e.what();
  }
  return LOCKSTEP_RUNTIME;
}

}  // namespace

const char* lockstep_check(const lockstep_call* call) {
  answered([&] { checked(call); });
  return last_label.c_str();
}

int lockstep_infer(const lockstep_call* given, lockstep_outputs** outputs) {
  *outputs = nullptr;
  return answered([&] {
    const Call call = checked(given);
    auto made = std::make_unique<lockstep_outputs>();
    const lockstep::Inferred y = call.op->infer(call.attributes(), call.types());
    for (int k = 0; k < y.count; ++k) made->all.push_back(output_of(y[k], {}));
    *outputs = made.release();
  });
}

int lockstep_evaluate(
    const lockstep_call* given, const std::int32_t* const* values, lockstep_outputs** outputs) {
  *outputs = nullptr;
  return answered([&] {
    // Reads and allocates nothing for a call whose types are illegal.
    const Call call = checked(given);
    std::vector<Tensor> in;
    for (std::size_t k = 0; k < call.in.size(); ++k) {
      const auto n = static_cast<std::size_t>(volume(call.in[k].shape));
      const std::int32_t* from = values ? values[k] : nullptr;
      in.push_back({call.in[k],
          from ? std::vector<std::int32_t>(from, from + n) : std::vector<std::int32_t>(n)});
    }
    lockstep::reference::Outcome y = lockstep::reference::evaluate(*call.op, call.attributes(), in);
    if (y.status == lockstep::reference::Status::logic_error) throw Broken{y.label, y.message};
    if (y.status != lockstep::reference::Status::ok) throw std::runtime_error(y.message);
    auto made = std::make_unique<lockstep_outputs>();
    for (Tensor& t : y.out) made->all.push_back(output_of(t.type, std::move(t.data)));
    *outputs = made.release();
  });
}

size_t lockstep_count(const lockstep_outputs* outputs) { return outputs ? outputs->all.size() : 0; }

lockstep_type lockstep_type_of(const lockstep_outputs* outputs, size_t k) {
  if (k >= lockstep_count(outputs)) return {nullptr, 0, 0};
  const lockstep_outputs::Output& y = outputs->all[k];
  return {y.shape.data(), y.shape.size(), y.precision};
}

const std::int32_t* lockstep_values(const lockstep_outputs* outputs, size_t k) {
  if (k >= lockstep_count(outputs) || outputs->all[k].values.empty()) return nullptr;
  return outputs->all[k].values.data();
}

void lockstep_release(lockstep_outputs* outputs) { delete outputs; }

const char* lockstep_label(void) { return last_label.c_str(); }

const char* lockstep_message(void) { return last_message.c_str(); }

const char* lockstep_specification(void) { return lockstep::kSpecificationVersion.data(); }
