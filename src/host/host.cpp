#include "host/host.h"

#include <fmt/format.h>

#include <algorithm>

namespace nearfar {

Host::Host(Partition& partition, const SystemSpec& spec, const Topology& topology,
           const std::vector<Process>& processes, FrameAllocator& frames, ByteMaskPool& masks, DataWatch* watch,
           TranslationOracle* translation_oracle)
    : partition_(partition),
      spec_(spec),
      topology_(topology),
      processes_(processes),
      watch_(watch),
      llc_(partition, spec.host.llc, spec.host.dram, spec.gpu.line, spec.gpu.clock.hertz, *this, masks, watch),
      network_(partition, spec.link, topology, spec.gpu.line, spec.gpu.clock.hertz, *this, masks),
      progress_(processes.size()),
      running_(processes.size()),
      start_handler_(partition.add_handler<&Host::on_start>(this)),
      table_reader_(partition, llc_) {
  network_.perturb(spec.perturb);
  if (spec.translation.kind == TranslationKind::Ats) {
    IommuSpec iommu = spec.iommu;
    if (iommu.pending == 0) iommu.pending = spec.gpus * spec.gpu.l2_tlb.mshrs;
    iommu_ = std::make_unique<Iommu>(partition, iommu, spec.walk, spec.page_table, false, *this, this);
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

void Host::start() { partition_.schedule(partition_.pool().allocate<Event>(), start_handler_, 0); }

void Host::on_start(Event* event) {
  partition_.pool().release(event);
  for (std::size_t a = 0; a < processes_.size(); ++a) launch(a);
}

/// Starts the application's next launch on all its GPUs.
void Host::launch(std::size_t a) {
  const Process& process = processes_[a];
  Progress& progress = progress_[a];
  const Launch& launch = process.workload->launches()[progress.launch];
  progress.gpus_running = process.gpus;
  progress.next_group = 0;
  progress.record = {a, progress.launch, partition_.now(), 0, 0, 0};
  if (watch_ != nullptr) watch_->boundary(static_cast<std::uint8_t>(a));
  const bool last = progress.launch + 1 == process.workload->launches().size();
  const bool greedy =
      process.gpus > 1 && (spec_.dispatch == DispatchPolicy::Greedy ||
                           (spec_.dispatch == DispatchPolicy::Workload && launch.split == Split::Greedy));
  for (unsigned g = 0; g < process.gpus; ++g) {
    const DeviceId gpu{static_cast<std::uint16_t>(process.first_gpu + g)};
    tell(gpu, {ControlKind::Launch, progress.launch, 0, static_cast<std::uint8_t>(a), last && progress.first});
  }
  for (unsigned g = 0; greedy && g < process.gpus; ++g) {
    grant(a, DeviceId{static_cast<std::uint16_t>(process.first_gpu + g)}, capacity(launch));
  }
}

/// Greedy: hands the next workgroups in flattened order to a GPU that has room; with the last one, all are told.
void Host::grant(std::size_t a, DeviceId gpu, std::uint64_t groups) {
  const Process& process = processes_[a];
  Progress& progress = progress_[a];
  const std::uint64_t left = process.workload->launches()[progress.launch].groups() - progress.next_group;
  const std::uint64_t given = std::min(groups, left);
  if (given == 0) return;
  tell(gpu, {ControlKind::Groups, progress.next_group, given, static_cast<std::uint8_t>(a), false});
  progress.next_group += given;
  if (given < left) return;
  for (unsigned g = 0; g < process.gpus; ++g) {
    tell(DeviceId{static_cast<std::uint16_t>(process.first_gpu + g)},
         {ControlKind::NoMore, 0, 0, static_cast<std::uint8_t>(a), false});
  }
}

/// Workgroups of a launch that a GPU holds at once.
std::uint64_t Host::capacity(const Launch& launch) const {
  const GpuSpec& gpu = spec_.gpu;
  const std::uint64_t waves = launch.waves(gpu.wavefront);
  std::uint64_t groups = std::uint64_t{gpu.cu.simds} * gpu.cu.waves_per_simd / waves;
  if (launch.local_bytes != 0) groups = std::min(groups, gpu.cu.local_memory / launch.local_bytes);
  return groups * gpu.cus();
}

void Host::on_control(Packet* packet) {
  const Control control = static_cast<const ControlMessage&>(*packet).control;
  const DeviceId gpu{packet->origin};
  partition_.pool().release(packet);
  if (control.kind == ControlKind::GroupsDone) {
    grant(control.application, gpu, control.value);
  } else {
    share_done(control.application, control);
  }
}

/// A GPU has done its share, or has written back. When all have done the first, all are told to do the second.
void Host::share_done(std::size_t a, const Control& control) {
  Progress& progress = progress_[a];
  if (control.kind == ControlKind::LaunchDone) {
    progress.record.instructions += control.value;
    progress.record.accesses += control.count;
  }
  if (--progress.gpus_running != 0) return;
  if (control.kind == ControlKind::LaunchDone && spec_.write_back_at_release) {
    const Process& process = processes_[a];
    progress.gpus_running = process.gpus;
    for (unsigned g = 0; g < process.gpus; ++g) {
      tell(DeviceId{static_cast<std::uint16_t>(process.first_gpu + g)},
           {ControlKind::WriteBack, 0, 0, static_cast<std::uint8_t>(a), false});
    }
    return;
  }
  launch_done(a);
}

void Host::launch_done(std::size_t a) {
  Progress& progress = progress_[a];
  partition_.progress().steps += 1;
  progress.record.end = partition_.now();
  if (progress.first) records_.push_back(progress.record);
  if (++progress.launch < processes_[a].workload->launches().size()) {
    if (!finished()) launch(a);
    return;
  }
  execution_done(a);
}

/// An application that ends early starts again until the longest has ended, so that the others keep their company.
void Host::execution_done(std::size_t a) {
  Progress& progress = progress_[a];
  if (progress.first) {
    progress.first = false;
    if (on_first_execution) on_first_execution(a);
    if (--running_ == 0) {
      end_ = partition_.now();
      if (processes_.size() > 1) {
        for (const Process& process : processes_) {
          tell(DeviceId{static_cast<std::uint16_t>(process.first_gpu)}, {ControlKind::Stop, 0, 0, 0, false});
        }
      }
    }
  }
  if (finished()) return;
  progress.launch = 0;
  launch(a);
}

// ------------------------------------------------------------------------------------------------------- translation

void Host::on_message(Packet* packet) {
  const Message message = Message::get(static_cast<const Transaction&>(*packet));
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
  send_translation_message(partition_, network_, spec_.translation.message, spec_.page.size, to, message);
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

void Host::tell(DeviceId gpu, const Control& control) {
  auto* message = partition_.pool().allocate<ControlMessage>();
  message->control = control;
  message->destination = gpu.value;
  network_.send_control(message);
}

bool Host::idle() const {
  return llc_.pending() == 0 && network_.waiting() == 0 && (!mmu_ || mmu_->idle()) && (!iommu_ || iommu_->idle()) &&
         (!page_requests_ || page_requests_->idle()) && parts_.idle();
}

std::string Host::describe_waiting() const {
  std::string text = llc_.describe_waiting() + network_.describe_waiting();
  if (mmu_) text += mmu_->describe_waiting();
  if (iommu_) text += iommu_->describe_waiting();
  if (page_requests_) text += page_requests_->describe_waiting();
  text += parts_.describe_waiting();
  for (std::size_t a = 0; a < progress_.size(); ++a) {
    if (progress_[a].gpus_running == 0) continue;
    text += fmt::format("  application {}: launch {} waits for {} GPUs since cycle {}\n", a, progress_[a].launch,
                        progress_[a].gpus_running, progress_[a].record.start);
  }
  return text.empty() ? text : "host:\n" + text;
}

}  // namespace nearfar
