#include "conformance/host/device_values.h"

#include <dlfcn.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "conformance/host/calls.h"
#include "conformance/host/device_scratch.h"
#include "spec/operators.h"
#include "spec/values.h"

namespace lockstep::judge {
namespace {

client::Status failed(const Witness::Text& why) {
  return {"witness", LS_RUNTIME, "", std::string("the values cannot be compared: ") + why.text};
}

ValueRange range_of(const Letter& letter, const Slot& x) {
  const OpInfo& op = *operators()[static_cast<std::size_t>(letter.op)];
  ValueRange r{.op = op.name, .attrs = letter.attrs, .attr_count = letter.attr_count};
  r.precision = x.precision;
  r.first = letter.first;
  r.values = x.shape[0];
  r.poison = letter.filler;
  return r;
}

// The words of the inputs and of right outputs, as a witness should find them.
struct Words {
  std::vector<i32> x, y;
  u64 sum = 0;

  explicit Words(const ValueRange& r) : x(static_cast<std::size_t>(r.words()), r.poison), y(x) {
    for (i64 k = 0; k < r.values; ++k)
      x[at(k)] = static_cast<i32>(r.first + k - max_of(r.precision));
    values_of (*find_operator(r.op))({r.attrs, r.attr_count}, &x[at(0)], &y[at(0)], r.values);
    for (i64 k = 0; k < r.values; ++k) sum += value_sum(r.first + k, y[at(k)]);
  }
  static std::size_t at(i64 k) { return static_cast<std::size_t>(k + kWitnessBeside); }
  static std::size_t bytes(const std::vector<i32>& words) { return words.size() * sizeof(i32); }
};

// Runs a plan on a range.
client::Status run(const client::Backend& backend, const client::Plan& plan, const ValueRange& r,
    bool& beside_scratch) {
  DeviceScratch scratch;
  if (const uint64_t bytes = plan.scratch_bytes(); bytes > 0)
    if (client::Status s = scratch.take(backend, bytes, r.poison); !s.ok()) return s;
  auto stream = backend.stream();
  if (!stream.ok()) return stream.status();
  const void* in = r.x + kWitnessBeside;
  void* out = r.y + kWitnessBeside;
  client::Status status = plan.execute({&in, 1}, {&out, 1}, scratch.data(), stream->handle());
  if (status.ok()) status = stream->wait();
  bool is_intact = true;
  if (status.ok()) status = scratch.compare(is_intact);
  beside_scratch = !is_intact;
  return status;
}

}  // namespace

void DeviceValues::load(const char* file) {
  if (file_ == file) return;
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  constexpr const char* kName = "lockstep_witness_v1";
  const auto get = reinterpret_cast<decltype(&lockstep_witness_v1)>(dlsym(library, kName));
  if (!get) throw std::runtime_error(std::string(file) + " has no " + kName);
  witness_ = get();
  file_ = file;
}

client::Status DeviceValues::take(const client::Backend& backend, i64 words) {
  const uint64_t bytes = static_cast<uint64_t>(words) * sizeof(i32);
  if (backend_ != &backend) release();
  backend_ = &backend;
  for (std::optional<client::Memory>* memory : {&x_, &y_}) {
    if (*memory && (*memory)->bytes() >= bytes) continue;
    memory->reset();
    auto taken = backend.allocate(bytes);
    if (!taken.ok()) return taken.status();
    memory->emplace(std::move(*taken));
  }
  return {};
}

client::Status DeviceValues::compare(const ValueRange& range, ValueTally& tally) const {
  Witness::Text why{};
  return witness_->compare(range, tally, why) ? client::Status{} : failed(why);
}

// The witness lays inputs of both signs, is shown right outputs with one wrong value and one word
// written beside them, and has to find these two.
client::Status DeviceValues::rehearse(ValueRange range, bool& is_blind) {
  constexpr i64 kBefore = 2048;  // the value 0
  const i64 zero = max_of(range.precision);
  range.first = max(0, zero - kBefore);
  range.values = min(2 * (zero - range.first) + 1, range.values);
  Words words(range);
  Witness::Text why{};
  if (!witness_->lay(range, why)) return failed(why);
  std::vector<i32> laid(words.x.size());
  if (client::Status s = x_->read(laid.data(), Words::bytes(laid)); !s.ok()) return s;
  const i64 place = range.values / 2;
  i32& wrong = words.y[Words::at(place)];
  words.sum += value_sum(range.first + place, wrong ^ 1) - value_sum(range.first + place, wrong);
  wrong ^= 1;
  words.y[Words::at(range.values)] ^= 1;
  if (client::Status s = y_->write(words.y.data(), Words::bytes(words.y)); !s.ok()) return s;
  ValueTally tally;
  if (client::Status s = compare(range, tally); !s.ok()) return s;
  const bool sees = laid == words.x && tally.sum == words.sum && tally.wrong == 1 &&
      tally.place == place && tally.got == wrong && tally.beside == 1;
  is_blind = !sees;
  return {};
}

void DeviceValues::answer(
    const client::Backend& backend, const Letter& letter, const char* mail, Reply& reply) {
  const auto note = [&](const client::Status& s) { return judge::note(reply, s); };
  load(mail + letter.witness);
  ValueRange range = range_of(letter, types_of(letter, mail)[0]);
  if (!note(take(backend, range.words()))) return;
  range.x = static_cast<i32*>(x_->data());
  range.y = static_cast<i32*>(y_->data());
  reply.tallied = witness_->reaches(range.x);
  if (!reply.tallied) return;
  auto plan = prepared(backend, letter, mail, nullptr);
  if (!note(plan.status())) return;
  if (!seen_.contains(range.op)) {
    if (!note(rehearse(range, reply.tally.is_blind)) || reply.tally.is_blind) return;
    seen_.insert(range.op);
  }
  Witness::Text why{};
  if (!witness_->lay(range, why)) {
    note(failed(why));
    return;
  }
  if (!note(run(backend, *plan, range, reply.beside_scratch))) return;
  note(compare(range, reply.tally));
}

}  // namespace lockstep::judge
