#include "designs/idyll/vm_table.h"

#include <algorithm>

namespace nearfar {

VmCache::Access VmCache::change(PageKey page, Cycle fetched) {
  const std::size_t first = page.number() % sets_ * ways_;
  Line* victim = &lines_[first];
  for (std::size_t i = first; i < first + ways_; ++i) {
    Line& line = lines_[i];
    if (line.valid && line.page == page) {
      line.used = ++clock_;
      return {true, false, line.ready};
    }
    if (victim->valid && (!line.valid || line.used < victim->used)) victim = &line;
  }
  // Every operation changes its entry, so every entry that leaves is written.
  const bool writes_back = victim->valid;
  *victim = {page, true, fetched, ++clock_};
  return {false, writes_back, fetched};
}

void VmTableStats::describe(StatVisitor& visitor) {
  InPteDirectoryStats::describe(visitor);
  visitor.counter("lookups", "lookups", "Operations on entries of the VM-Table that were looked up in the VM-Cache.",
                  lookups);
  visitor.counter("hits", "lookups",
                  "Lookups of VM-Table entries that the VM-Cache held, or that were on their way to it.", hits);
  visitor.counter("writebacks", "entries", "Entries that the VM-Cache wrote back to the VM-Table.", writebacks);
}

VmTable::VmTable(HostMmu& mmu, unsigned gpus, DeviceId host, const VmCacheSpec& spec)
    : mmu_(mmu),
      host_(host),
      spec_(spec),
      bits_(gpus, kAccessBits),
      cache_(spec.entries, spec.ways),
      read_handler_(mmu.partition().add_handler<&VmTable::on_read>(this)) {
  mmu_.driver().set_directory(*this);
}

/// When an operation on a page's entry that begins now has its entry.
Cycle VmTable::look_up(PageKey page) {
  const Cycle looked_up = mmu_.partition().now() + spec_.latency;
  const VmCache::Access access = cache_.change(page, looked_up + spec_.memory);
  ++stats_.lookups;
  if (access.hit) ++stats_.hits;
  if (access.writes_back) ++stats_.writebacks;
  return std::max(looked_up, access.ready);
}

unsigned VmTable::access_bits(PageKey page) const {
  const auto found = table_.find(page.value);
  return found == table_.end() ? 0 : found->second;
}

void VmTable::add(PageKey page, DeviceId gpu) {
  look_up(page);  // nobody waits for it
  table_[page.value] |= bits_.bit(gpu);
}

void VmTable::read(PageKey page, DeviceId to, DeviceId kept) {
  auto* read = mmu_.partition().pool().allocate<Read>();
  read->page = page;
  read->to = to;
  read->kept = kept;
  mmu_.partition().schedule(read, read_handler_, look_up(page));
}

void VmTable::on_read(Read* read) {
  const PageKey page = read->page;
  const DeviceId to = read->to;
  const DeviceId kept = read->kept;
  mmu_.partition().pool().release(read);
  std::uint32_t& bits = table_[page.value];
  const GpuSet named = bits_.gpus(bits, kept);
  bits = to == host_ ? 0 : bits_.bit(to);
  stats_.targets += named.count();
  stats_.alias_targets += named.count_without(mmu_.driver().record(page).holders);
  mmu_.driver().targets_known(page, named);
}

}  // namespace nearfar
