#include "translation/uvm/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "config/error.h"
#include "sim/error.h"

namespace nearfar {

void PageRecords::add_process(Pid pid, std::uint64_t first, std::uint64_t pages) {
  if (processes_.size() <= pid) processes_.resize(pid + std::size_t{1});
  processes_[pid].first = first;
  processes_[pid].pages.resize(pages);
}

PageRecord* PageRecords::find(PageKey page) {
  Process& process = processes_[page.pid()];
  const std::uint64_t index = page.number() - process.first;
  return index < process.pages.size() && process.pages[index].exists ? &process.pages[index] : nullptr;
}

PageRecord& PageRecords::of(PageKey page) {
  if (PageRecord* record = find(page)) return *record;
  throw SimulationError(fmt::format("a wavefront touched page {:#x}, which belongs to no buffer", page.number()));
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

std::vector<PageKey> PageRecords::begin_eviction(DeviceId gpu) {
  FramePool& pool = pools_[gpu.value];
  if (pool.residents.empty()) {
    throw InputError(
        fmt::format("GPU {} has no room for another page: none of its {} pages can be evicted (gpu.dram.capacity).",
                    gpu.value, gpu_pages_));
  }
  if (unit_ == EvictionUnit::Block) {
    pool.evicting = oldest_block(pool);
  } else {
    const auto victim = std::ranges::find_if(pool.residents, [&](PageKey page) { return !of(page).moving; });
    if (victim != pool.residents.end()) pool.evicting = {*victim};
  }
  return pool.evicting;
}

/// Residents are in order of arrival, so that the last of a block to come says when the block was in use.
std::vector<PageKey> PageRecords::oldest_block(const FramePool& pool) {
  std::map<PageKey, std::size_t> last;
  std::map<PageKey, bool> can_leave;
  for (std::size_t i = 0; i < pool.residents.size(); ++i) {
    const PageKey block = block_of(pool.residents[i]);
    last[block] = i;
    can_leave[block] |= !of(pool.residents[i]).moving;
  }
  const PageKey* oldest = nullptr;
  for (const auto& [block, when] : last) {
    if (can_leave.at(block) && (oldest == nullptr || when < last.at(*oldest))) oldest = &block;
  }
  std::vector<PageKey> pages;
  for (const PageKey page : pool.residents) {
    if (oldest != nullptr && block_of(page) == *oldest && !of(page).moving) pages.push_back(page);
  }
  return pages;
}

void PageRecords::end_eviction(PageKey page) {
  for (FramePool& pool : pools_) std::erase(pool.evicting, page);
}

}  // namespace nearfar
