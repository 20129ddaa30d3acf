#include "translation/host_mmu.h"

#include <fmt/format.h>

#include <utility>

namespace nearfar {

void HostMmuStats::describe(StatVisitor& visitor) {
  visitor.counter("tlb.lookups", "lookups", "Far faults looked up in the host's TLB.", lookups);
  visitor.counter("tlb.hits", "lookups", "Lookups that found the page.", hits);
  visitor.counter("pte_writes", "entries", "Entries of the host's page tables written.", pte_writes);
}

HostMmu::HostMmu(Partition& partition, const HostMmuOptions& options, FrameAllocator& frames, Messenger& messenger,
                 HostCaches& caches, WalkMemory& memory, TranslationOracle* oracle)
    : partition_(partition),
      options_(options),
      caches_(caches),
      tlb_(options.mmu.tlb.entries, options.mmu.tlb.ways),
      walkers_(partition, options.mmu, options.walk, options.table.upper, *this, &memory),
      driver_(partition, options.uvm, frames, *this, messenger, parts_, oracle),
      lookup_handler_(partition.add_handler<&HostMmu::on_lookup>(this)) {}

void HostMmu::add_process(Pid pid, std::unique_ptr<PageTable> table, std::uint64_t first, std::uint64_t pages) {
  if (tables_.size() <= pid) tables_.resize(pid + std::size_t{1});
  tables_[pid] = std::move(table);
  driver_.add_process(pid, first, pages);
}

void HostMmu::publish_at_start(PageKey page) {
  const PageRecord& record = driver_.record(page);
  publish(page, {record.owner, true, record.epoch});
}

void HostMmu::on_message(const Message& message) {
  if (message.kind == MessageKind::Fault) {
    fault_arrived(message);
  } else {
    driver_.on_message(message);
  }
}

void HostMmu::charge(Fault& fault, MissPart part, Cycle until) {
  parts_.add(part, until - fault.stamp);
  note_part(partition_.timeline(), fault, part, until);
  fault.accounted += static_cast<std::uint32_t>(until - fault.stamp);
  fault.stamp = until;
}

void HostMmu::fault_arrived(const Message& message) {
  Fault* fault = faults_.take();
  const Cycle now = partition_.now();
  *fault = {nullptr, message.page, message.from, message.write, now - (static_cast<std::uint32_t>(now) - message.stamp),
            0};
  charge(*fault, MissPart::LinkToHost, now);
  Transaction* t = partition_.pool().take();
  t->mask = reinterpret_cast<std::uintptr_t>(fault);
  partition_.schedule(t, lookup_handler_, now + options_.mmu.tlb.latency);
}

void HostMmu::on_lookup(Transaction* t) {
  Fault* fault = reinterpret_cast<Fault*>(static_cast<std::uintptr_t>(t->mask));
  partition_.pool().give(t);
  charge(*fault, MissPart::HostTlb, partition_.now());
  ++stats_.lookups;
  if (tlb_.use(fault->page) != nullptr) {
    ++stats_.hits;
    driver_.take(fault);
    return;
  }
  Walk& walk = walkers_.make(WalkKind::Demand, fault->page);
  walk.owner = fault;
  walkers_.submit(walk, WalkSource::Demand);
}

void HostMmu::walked(Walk& walk) {
  if (walk.kind == WalkKind::Invalidate) {
    driver_.host_walk_done(walk.page);
    return;
  }
  Fault* fault = static_cast<Fault*>(walk.owner);
  charge(*fault, MissPart::HostQueue, walk.started);
  charge(*fault, MissPart::HostCache, walk.looked_up);
  charge(*fault, MissPart::HostUpper, walk.at_leaf);
  charge(*fault, MissPart::HostLeaf, partition_.now());
  const Pte entry = tables_[walk.page.pid()]->read(walk.page.number());
  if (entry.valid()) tlb_.insert(walk.page, {entry.page(), true, 0});
  driver_.take(fault);
}

void HostMmu::forget(PageKey page) {
  tlb_.erase(page);
  PageTable& table = *tables_[page.pid()];
  Pte entry = table.read(page.number());
  entry.invalidate();
  table.write(page.number(), entry);
  ++stats_.pte_writes;
}

void HostMmu::publish(PageKey page, const Mapping& mapping) {
  tables_[page.pid()]->write(page.number(), Pte::leaf(mapping, options_.uvm.size.bits != 0));
  ++stats_.pte_writes;
}

void HostMmu::walk_for(PageKey page) {
  walkers_.submit(walkers_.make(WalkKind::Invalidate, page), WalkSource::Message);
}

void HostMmu::answered(Fault* fault) { faults_.give(fault); }

std::string HostMmu::describe_waiting() const {
  std::string text = walkers_.describe_waiting("host MMU");
  if (faults_.live() != 0) text += fmt::format("  host MMU: {} faults not answered\n", faults_.live());
  return text + driver_.describe_waiting();
}

}  // namespace nearfar
