/// @file
/// Runs calls on the emulated device, every tensor in a layout of its own and between guards, and
/// compares them with the reference.
#pragma once
#include <gtest/gtest.h>

#include "backends/cpu/tests/subject.h"
#include "backends/cuda/device.h"
#include "backends/cuda/tests/watch.h"

namespace lockstep::cuda {

using cpu::call_of, cpu::Placed, cpu::TestCall;

/// Options with which all products pack what they read, or none with constant weights does.
inline const client::Options kPacked = {{"direct", "0"}}, kDirect = {{"direct", "2"}};

/// The backend on a device of so many multiprocessors.
inline client::Backend open_backend(int processors = 4, const client::Options& options = {}) {
  fake::control().processors = processors;
  client::Backend backend = cpu::open_backend(options).value();
  fake::control().processors = 4;
  return backend;
}

/// A placed tensor in memory of the device.
struct OnDevice {
  client::Memory memory;
  i64 first;

  OnDevice(const client::Backend& backend, const Placed& p)
      : memory(backend.allocate(p.memory.size() * sizeof(i32)).value()), first(p.first) {
    memory.write(p.memory.data(), p.memory.size() * sizeof(i32)).check();
  }
  i32* data() const { return static_cast<i32*>(memory.data()) + first; }
};

/// Compares every byte of an output with its values, and poisons it.
inline void expect_values(Placed& p, OnDevice& on_device) {
  on_device.memory.read(p.memory.data(), p.memory.size() * sizeof(i32)).check();
  i64 wrong = 0;
  p.for_each([&](i32& element, i32 value) {
    wrong += element != value;
    element = cpu::kPoison;
  });
  EXPECT_EQ(wrong, 0) << "elements differ from the reference";
  EXPECT_EQ(
      std::count(p.memory.begin(), p.memory.end(), cpu::kPoison), static_cast<i64>(p.memory.size()))
      << "written outside the output";
  on_device.memory.write(p.memory.data(), p.memory.size() * sizeof(i32)).check();
}

/// Expects that only the elements were read of a tensor's memory.
inline void expect_no_read_beside(Placed& p, const OnDevice& on_device, const Watch& watch) {
  std::vector<bool> is_element(p.memory.size());
  p.for_each([&](const i32& element, i32) {
    is_element[static_cast<std::size_t>(&element - p.memory.data())] = true;
  });
  i64 beside = 0;
  for (std::size_t k = 0; k < p.memory.size(); ++k)
    beside +=
        !is_element[k] && watch.read.count(static_cast<const i32*>(on_device.memory.data()) + k);
  EXPECT_EQ(beside, 0) << "words beside an input are read";
}

/// Which inputs of a call are constants.
enum class Constants { drawn, weights };

/// Runs a call and compares every byte of the outputs with the reference. @return the path
inline std::string judge_on_device(const client::Backend& backend, const TestCall& call, Draw& draw,
    Constants constants = Constants::drawn) {
  const Attributes attributes = call.drawn.attributes();
  std::vector<Placed> in, out;
  std::vector<OnDevice> from, to;
  for (const reference::Tensor& t : call.in) {
    in.emplace_back(t, draw).for_each([](i32& element, i32 value) { element = value; });
    from.emplace_back(backend, in.back());
  }
  for (const reference::Tensor& t : reference::outputs(*call.op, attributes, call.in))
    to.emplace_back(backend, out.emplace_back(t, draw));
  client::Call put{std::string(call.op->name), client::attributes_of(*call.op, attributes), {}, {}};
  for (std::size_t k = 0; k < in.size(); ++k) {
    put.in.push_back(in[k].view(false));
    if (constants == Constants::drawn ? draw.coin() : k > 0)
      put.in.back().constant = from[k].data();
  }
  for (Placed& p : out) put.out.push_back(p.view(false));
  const client::Plan plan = backend.prepare(put).value();
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const OnDevice& t : from) inputs.push_back(t.data());
  for (const OnDevice& t : to) outputs.push_back(t.data());
  const client::Memory scratch = backend.allocate(plan.scratch_bytes()).value();
  const client::Stream stream = backend.stream().value();
  plan.execute(inputs, outputs, scratch.data(), stream.handle()).check();
  stream.wait().check();
  for (std::size_t k = 0; k < out.size(); ++k) expect_values(out[k], to[k]);
  for (std::size_t k = 0; Watch::current() && k < in.size(); ++k)
    expect_no_read_beside(in[k], from[k], *Watch::current());
  return plan.path();
}

/// Runs a call in some layouts under watch: it expects no race, no wait for a bank, and one store
/// of each output.
inline void judge_watched(const client::Backend& backend, const TestCall& call,
    const std::string& path, uint64_t layouts = 16, Constants constants = Constants::drawn) {
  SCOPED_TRACE(call.op->name);
  for (uint64_t seed = 0; seed < layouts; ++seed) {
    Watch watch;
    Watch::current() = &watch;
    Seeded draw(seed);
    EXPECT_EQ(judge_on_device(backend, call, draw, constants), path);
    Watch::current() = nullptr;
    EXPECT_EQ(watch.problems, (std::map<std::string, int64_t>{}));
    EXPECT_EQ(watch.conflicts, 0) << "of " << watch.waves << " waves";
    int64_t again = 0;
    for (const auto& [word, times] : watch.written) again += times != 1;
    EXPECT_EQ(again, 0) << "words are stored more than once";
  }
}
inline void judge_watched(
    const TestCall& call, const std::string& path, int processors = 4, uint64_t layouts = 16) {
  judge_watched(open_backend(processors), call, path, layouts);
}

}  // namespace lockstep::cuda
