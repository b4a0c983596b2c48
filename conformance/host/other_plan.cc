#include "conformance/host/other_plan.h"

#include <algorithm>
#include <span>
#include <utility>

#include "conformance/host/calls.h"
#include "conformance/host/device_scratch.h"

namespace lockstep::judge {

OtherPlan::OtherPlan(const client::Backend& backend, const Letter& letter, const char* mail)
    : backend_(backend),
      types_(types_of(letter, mail)),
      call_(call_of(letter, types_, mail)),
      plan_(backend.prepare(call_)) {}

client::Status OtherPlan::add_tensor(const client::TensorView& type, int32_t value) {
  auto tensor = backend_.tensor({type.shape.begin(), type.shape.end()}, type.precision);
  if (!tensor.ok()) return tensor.status();
  tensors_.push_back(std::move(*tensor));
  return tensors_.back().write(std::vector<int32_t>(tensors_.back().volume(), value));
}

client::Status OtherPlan::run() {
  for (const client::TensorView& type : call_.in)
    if (client::Status s = add_tensor(type, 0); !s.ok()) return s;
  for (const client::TensorView& type : call_.out)
    if (client::Status s = add_tensor(type, kUnwritten); !s.ok()) return s;
  std::vector<void*> data;
  for (const client::DeviceTensor& t : tensors_) data.push_back(t.data());
  auto stream = backend_.stream();
  if (!stream.ok()) return stream.status();
  // With guards: what a backend writes beside it shall not end the process.
  DeviceScratch scratch;
  if (const uint64_t bytes = plan_->scratch_bytes(); bytes > 0)
    if (client::Status s = scratch.take(backend_, bytes, 0); !s.ok()) return s;
  const std::size_t inputs = call_.in.size();
  client::Status status = plan_->execute(
      {data.data(), inputs}, std::span(data).subspan(inputs), scratch.data(), stream->handle());
  return status.ok() ? stream->wait() : status;
}

std::size_t OtherPlan::unwritten() const {
  std::size_t n = 0;
  for (std::size_t k = call_.in.size(); k < tensors_.size(); ++k) {
    std::vector<int32_t> now(tensors_[k].volume());
    if (!tensors_[k].read(now).ok()) return now.size();
    n += static_cast<std::size_t>(std::count(now.begin(), now.end(), kUnwritten));
  }
  return n;
}

}  // namespace lockstep::judge
