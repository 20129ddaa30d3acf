#include "host/host.h"

#include "host/host_hierarchy.h"

namespace nearfar {
namespace {

/// What the instances of one GPU share below their L2 TLBs is an IOMMU of their own.
IommuSpec shared_by_instances(const SystemSpec& spec) {
  IommuSpec shared;
  static_cast<WalkersSpec&>(shared) = spec.mig;
  shared.tlb = spec.mig.l3_tlb;
  shared.tlb.sub_entries = spec.mig.sub_entries;
  shared.cache.page_bits = spec.page.size.bits == kMediumPageBits ? kMediumPageBits : 0;
  return shared;
}

}  // namespace

Host::Host(Partition& partition, const SystemSpec& spec, const Topology& topology,
           const std::vector<Process>& processes, FrameAllocator& frames, ByteMaskPool& masks, DataWatch* watch,
           TranslationOracle* translation_oracle)
    : partition_(partition),
      spec_(spec),
      applications_(processes.size()),
      watch_(watch),
      llc_(partition, spec.host.llc, spec.host.dram, spec.gpu.line, spec.gpu.clock.hertz, *this, masks, watch),
      network_(partition, spec.link, topology, spec.gpu.line, spec.gpu.clock.hertz, *this, masks),
      copies_(partition, llc_, network_, watch, partition.device(), spec.link.header, spec.gpu.line),
      dma_(partition, spec, processes, copies_, watch),
      lines_(partition, llc_, network_, watch, spec.host.cpu.latency, spec.gpu.line),
      core_(partition, spec, processes, watch),
      commands_(partition, spec, processes, network_, dma_, core_, watch),
      table_reader_(partition, llc_) {
  core_.set_port(lines_);
  network_.perturb(spec.perturb);
  if (spec.is_unified()) {
    auto& unified = parts_.add(std::make_unique<HostHierarchy>(partition, spec, topology, network_, watch));
    level_ = &unified;
    commands_.set_level(unified);
    core_.set_port(unified);
  }
  if (spec.posts_stores()) {
    ingress_ = std::make_unique<StoreIngress>(partition, llc_, network_, masks, spec.gpu.line, topology.devices());
  }
  if (spec.translation.asks_shared_tlb()) {
    IommuSpec iommu = spec.has_instances() ? shared_by_instances(spec) : spec.iommu;
    if (iommu.pending == 0) iommu.pending = spec.gpus * spec.gpu.l2_tlb.mshrs;
    iommu_ = std::make_unique<Iommu>(partition, iommu, spec.walk, spec.page_table, false, *this, this);
    iommu_->stats().l3 = spec.has_instances();
    if (spec.translation.observe) {
      iommu_->observe(spec.translation.snapshot);
      iommu_->walkers().measure_concurrency();
    }
  }
  UvmOptions uvm;
  uvm.gpus = spec.gpus;
  uvm.host = topology.host();
  uvm.uvm = spec.uvm;
  uvm.migration = spec.migration;
  uvm.invalidate = spec.invalidate;
  uvm.policy = spec.policy;
  uvm.host_first_touch = spec.host_first_touch;
  uvm.size = spec.page.size;
  uvm.gpu_pages = spec.gpu.dram.capacity / spec.page.size.bytes();
  if (iommu_ && spec.policy != PagePolicy::Pinned) {
    page_requests_ = std::make_unique<PageRequests>(partition, uvm, frames, *iommu_, *this, *this, translation_oracle);
  }
  if (spec.translation.kind != TranslationKind::Mmu) return;
  llc_.follow_pages();
  HostMmuOptions options;
  options.mmu = spec.host.mmu;
  options.walk = spec.walk;
  options.table = spec.page_table;
  options.uvm = uvm;
  mmu_ = std::make_unique<HostMmu>(partition, options, frames, *this, *this, *this,
                                   spec.migration.free_invalidation() ? nullptr : translation_oracle);
}

// ------------------------------------------------------------------------------------------------------- translation

void Host::on_message(Packet* packet) {
  const Message message = Message::get(static_cast<const TranslationPacket&>(*packet));
  partition_.pool().release(packet);
  if (parts_.take(message)) return;
  if (mmu_) {
    mmu_->on_message(message);
    return;
  }
  if (message.kind != MessageKind::AtsRequest) {
    page_requests_->on_message(message);
    return;
  }
  iommu_->request(message);
}

void Host::send(DeviceId to, const Message& message) {
  send_translation_message(partition_, network_, spec_.translation.message, spec_.page_pieces(), to, message);
}

void Host::iommu_answers(DeviceId gpu, PageKey page, const Mapping* mapping, std::uint32_t accounted) {
  Message message;
  message.kind = MessageKind::AtsResponse;
  message.page = page;
  message.faulted = mapping == nullptr;
  if (mapping != nullptr) message.mapping = *mapping;
  message.accounted = accounted;
  send(gpu, message);
}

bool Host::can_write_back(PhysPage page) {
  for (std::uint64_t i = 0; i < spec_.page.size.frames(); ++i) {
    if (llc_.page_pending(PhysPage{page.device(), page.frame() + i})) return false;
  }
  return true;
}

void Host::write_back(PhysPage page) {
  for (std::uint64_t i = 0; i < spec_.page.size.frames(); ++i) {
    const PhysPage frame{page.device(), page.frame() + i};
    llc_.write_back_page(frame, true);
    if (watch_ != nullptr) watch_->page_leaves(frame);
  }
}

void Host::page_came(PhysPage from, PhysPage to) {
  if (watch_ == nullptr) return;
  for (std::uint64_t i = 0; i < spec_.page.size.frames(); ++i) {
    watch_->page_came(PhysPage{from.device(), from.frame() + i}, PhysPage{to.device(), to.frame() + i});
  }
}

bool Host::idle() const {
  return llc_.pending() == 0 && network_.waiting() == 0 && (!mmu_ || mmu_->idle()) && (!iommu_ || iommu_->idle()) &&
         (!page_requests_ || page_requests_->idle()) && copies_.idle() && dma_.idle() && core_.idle() &&
         (!ingress_ || ingress_->idle()) && parts_.idle();
}

std::string Host::describe_waiting() const {
  std::string text = llc_.describe_waiting() + network_.describe_waiting();
  if (mmu_) text += mmu_->describe_waiting();
  if (iommu_) text += iommu_->describe_waiting();
  if (page_requests_) text += page_requests_->describe_waiting();
  text += parts_.describe_waiting();
  if (ingress_) text += ingress_->describe_waiting();
  text += commands_.describe_waiting() + core_.describe_waiting() + dma_.describe_waiting();
  text += copies_.describe_waiting();
  return text.empty() ? text : "host:\n" + text;
}

}  // namespace nearfar
