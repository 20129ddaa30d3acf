#include "translation/host_mmu/host_mmu.h"

#include <fmt/format.h>

#include <utility>

namespace nearfar {

void HostMmuStats::describe(StatVisitor& visitor) {
  visitor.counter("tlb.lookups", "lookups", "Far faults that were looked up in the host MMU's TLB.", lookups);
  visitor.counter("tlb.hits", "lookups", "Far faults whose page the host MMU's TLB held.", hits);
  visitor.counter("pte_writes", "entries", "Entries of the host's page tables that were written.", pte_writes);
  visitor.counter("duplicates", "answers",
                  "Host page walks and answers of other GPUs that were dropped since the other of the two had resolved "
                  "their fault.",
                  duplicates);
}

HostMmu::HostMmu(Partition& partition, const HostMmuOptions& options, FrameAllocator& frames, Messenger& messenger,
                 HostCaches& caches, WalkMemory& memory, TranslationOracle* oracle)
    : partition_(partition),
      options_(options),
      caches_(caches),
      tlb_(options.mmu.tlb),
      walkers_(partition, options.mmu, options.walk, options.table.upper, *this, &memory),
      parts_(partition),
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
  driver_.tell_at_start(page);
}

void HostMmu::on_message(const Message& message) {
  if (message.kind == MessageKind::Fault) {
    fault_arrived(message);
  } else {
    driver_.on_message(message);
  }
}

void HostMmu::fault_arrived(const Message& message) {
  Fault* fault = faults_.allocate();
  const Cycle now = partition_.now();
  *fault = {};
  fault->page = message.page;
  fault->gpu = message.from;
  fault->write = message.write;
  fault->number = message.number;
  fault->time.stamp = now - (static_cast<std::uint32_t>(now) - message.stamp);
  driver_.charge(*fault, LatencyComponent::LinkToHost, now);
  auto* lookup = partition_.pool().allocate<PointerEvent<Fault>>();
  lookup->what = fault;
  partition_.schedule(lookup, lookup_handler_, now + options_.mmu.tlb.latency);
}

void HostMmu::on_lookup(PointerEvent<Fault>* lookup) {
  Fault* fault = lookup->what;
  partition_.pool().release(lookup);
  driver_.charge(*fault, LatencyComponent::HostTlb, partition_.now());
  ++stats_.lookups;
  if (tlb_.use(fault->page) != nullptr) {
    ++stats_.hits;
    driver_.take(fault);
    return;
  }
  Walk& walk = walkers_.make(WalkKind::Demand, fault->page);
  walk.owner = fault;
  fault->walk = &walk;
  walkers_.submit(walk, WalkSource::Demand);
  if (forwarder_ != nullptr) forwarder_->walk_asked(*fault, walk.started == 0 ? walkers_.all_waiting() : 0);
}

void HostMmu::walked(Walk& walk) {
  if (walk.kind == WalkKind::Invalidate) {
    driver_.host_walk_done(walk.page);
    return;
  }
  const Pte entry = tables_[walk.page.pid()]->read(walk.page.number());
  if (entry.valid()) tlb_.insert(walk.page, {entry.page(), true, 0});
  Fault* fault = static_cast<Fault*>(walk.owner);
  if (fault == nullptr) {
    ++stats_.duplicates;
    return;
  }
  driver_.charge(*fault, LatencyComponent::HostQueue, walk.started);
  driver_.charge(*fault, LatencyComponent::HostCache, walk.looked_up);
  driver_.charge(*fault, LatencyComponent::HostUpper, walk.at_leaf);
  driver_.charge(*fault, LatencyComponent::HostLeaf, partition_.now());
  fault->walk = nullptr;
  if (forwarder_ != nullptr) forwarder_->walk_ended(*fault);
  driver_.take(fault);
}

void HostMmu::stop_walk(Fault& fault) {
  Walk* own = std::exchange(fault.walk, nullptr);
  if (!walkers_.withdraw(*own)) own->owner = nullptr;
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
  PageTable& table = *tables_[page.pid()];
  Pte entry = Pte::leaf(mapping, options_.uvm.size.bits != 0);
  entry.set_access_bits(table.read(page.number()).access_bits());
  table.write(page.number(), entry);
  ++stats_.pte_writes;
}

void HostMmu::set_access_bits(PageKey page, unsigned bits) {
  PageTable& table = *tables_[page.pid()];
  Pte entry = table.read(page.number());
  entry.set_access_bits(bits);
  table.write(page.number(), entry);
  ++stats_.pte_writes;
}

void HostMmu::walk_for(PageKey page) {
  walkers_.submit(walkers_.make(WalkKind::Invalidate, page), WalkSource::Request);
}

void HostMmu::answered(Fault* fault) { faults_.release(fault); }

std::string HostMmu::describe_waiting() const {
  std::string text = walkers_.describe_waiting("host MMU");
  if (faults_.live() != 0) text += fmt::format("  host MMU: {} faults not answered\n", faults_.live());
  return text + driver_.describe_waiting();
}

}  // namespace nearfar
