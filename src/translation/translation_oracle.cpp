#include "translation/translation_oracle.h"

#include <fmt/format.h>

#include "sim/error.h"

namespace nearfar {

void TranslationOracle::granted(DeviceId gpu, PageKey page, const Mapping& mapping) {
  const std::scoped_lock lock(mutex_);
  grants_[{page.value, gpu.value}] = {mapping.page, mapping.epoch, true, mapping.writable};
}

void TranslationOracle::revoked(DeviceId gpu, PageKey page, Epoch epoch) {
  const std::scoped_lock lock(mutex_);
  Grant& grant = grants_[{page.value, gpu.value}];
  if (grant.held && !older(grant.epoch, epoch)) {
    throw SimulationError(fmt::format("check: GPU {} acknowledged epoch {} of page {:#x} but holds epoch {}", gpu.value,
                                      epoch, page.number(), grant.epoch));
  }
  grant.held = false;
}

void TranslationOracle::downgraded(DeviceId gpu, PageKey page) {
  const std::scoped_lock lock(mutex_);
  grants_[{page.value, gpu.value}].writable = false;
}

void TranslationOracle::used(DeviceId gpu, PageKey page, const Mapping& mapping, bool write) const {
  const std::scoped_lock lock(mutex_);
  auto found = grants_.find({page.value, gpu.value});
  if (found == grants_.end()) found = grants_.find({page.value, kEveryGpu.value});
  if (found == grants_.end() || !found->second.held) {
    throw SimulationError(
        fmt::format("check: GPU {} used a mapping of page {:#x} that it no longer has", gpu.value, page.number()));
  }
  if (found->second.page != mapping.page) {
    throw SimulationError(
        fmt::format("check: GPU {} used frame {} of device {} for page {:#x}, which is frame {} of {}", gpu.value,
                    mapping.page.frame(), mapping.page.device().value, page.number(), found->second.page.frame(),
                    found->second.page.device().value));
  }
  if (write && !found->second.writable) {
    throw SimulationError(
        fmt::format("check: GPU {} wrote to page {:#x}, which it may only read", gpu.value, page.number()));
  }
}

void TranslationOracle::about_to_move(PageKey page, unsigned gpus, DeviceId except) const {
  const std::scoped_lock lock(mutex_);
  for (unsigned g = 0; g < gpus; ++g) {
    if (g == except.value) continue;
    const auto found = grants_.find({page.value, static_cast<std::uint16_t>(g)});
    if (found == grants_.end() || !found->second.held) continue;
    throw SimulationError(
        fmt::format("check: page {:#x} moves while GPU {} still has a mapping of it", page.number(), g));
  }
}

}  // namespace nearfar
