#include "translation/uvm/records.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/error.h"
#include "sim/error.h"

namespace nearfar {

void PageRecords::add_process(Pid pid, std::uint64_t first, std::uint64_t pages) {
  if (processes_.size() <= pid) processes_.resize(pid + std::size_t{1});
  processes_[pid].first = first;
  processes_[pid].pages.resize(pages);
}

PageRecord& PageRecords::of(PageKey page) {
  Process& process = processes_[page.pid()];
  const std::uint64_t index = page.number() - process.first;
  if (index >= process.pages.size() || !process.pages[index].exists) {
    throw SimulationError(fmt::format("a wavefront touched page {:#x}, which belongs to no buffer", page.number()));
  }
  return process.pages[index];
}

void PageRecords::note_resident(PhysPage frame) {
  if (frame.device() != host_) ++pools_[frame.device().value].used;
}

void PageRecords::note_resident(PageKey page, PhysPage frame) {
  note_resident(frame);
  if (frame.device() != host_ && evicts_) pools_[frame.device().value].residents.push_back(page);
}

bool PageRecords::has_frame(DeviceId device) const {
  if (device == host_ || pools_[device.value].used < gpu_pages_) return true;
  if (evicts_) return false;
  throw InputError(
      fmt::format("GPU {} has no room for another page: its {} pages are in use (gpu.dram.capacity; "
                  "migration.evict lets pages go back to the host).",
                  device.value, gpu_pages_));
}

PhysPage PageRecords::take_frame(PageKey page, DeviceId device) {
  const PhysPage frame = frames_.take(device);
  note_resident(page, frame);
  return frame;
}

void PageRecords::give_frame(PageKey page, PhysPage frame) {
  frames_.give(frame);
  if (frame.device() == host_) return;
  FramePool& pool = pools_[frame.device().value];
  --pool.used;
  const auto resident = std::ranges::find(pool.residents, page);
  if (resident != pool.residents.end()) pool.residents.erase(resident);
}

PageKey PageRecords::begin_eviction(DeviceId gpu) {
  FramePool& pool = pools_[gpu.value];
  if (pool.residents.empty()) {
    throw InputError(
        fmt::format("GPU {} has no room for another page: none of its {} pages can be evicted (gpu.dram.capacity).",
                    gpu.value, gpu_pages_));
  }
  const auto victim = std::ranges::find_if(pool.residents, [&](PageKey page) { return !of(page).moving; });
  if (victim != pool.residents.end()) pool.evicting = *victim;
  return pool.evicting;
}

void PageRecords::end_eviction(PageKey page) {
  for (FramePool& pool : pools_) {
    if (pool.evicting == page) pool.evicting = {};
  }
}

}  // namespace nearfar
