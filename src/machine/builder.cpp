#include "machine/builder.h"

#include <fmt/format.h>

#include <deque>

#include "config/error.h"
#include "machine/workload_check.h"
#include "program/memory_management.h"

namespace nearfar {
namespace {

class MachineBuilder {
 public:
  explicit MachineBuilder(Machine& machine) : machine_(machine) {}

  void build();

 private:
  void place_applications();
  void load_arguments(Process& process);
  void place_buffers(Process& process);
  void make_devices();
  void make_switch_device(DataWatch* watch);
  void map_multicast(std::uint8_t application, const Process& process, const Buffer& buffer);
  void cover_caches();
  void make_timelines();
  void record_devices();
  void fill_page_tables();
  void fill_shared_table(Pid pid, const AddressSpace& space);
  std::unique_ptr<PageTable> make_table(DeviceId device, const AddressSpace& space);
  void fill_records(Pid pid, const AddressSpace& space);

  Machine& machine_;
};

void MachineBuilder::build() {
  place_applications();
  if (machine_.request.timeline.on) make_timelines();
  make_devices();
  if (machine_.request.coverage != nullptr) cover_caches();
  if (machine_.request.timeline.on) record_devices();
  fill_page_tables();
  for (const auto& plug_in : machine_.spec().plug_ins) {
    plug_in->begin(machine_.gpus, *machine_.host, machine_.processes);
  }
}

void MachineBuilder::make_devices() {
  const SystemSpec& spec = machine_.spec();
  TranslationOracle* oracle = machine_.translation_oracle.get();
  if (machine_.data_oracle && spec.is_unified()) machine_.data_oracle->unify(spec.gpus + 1);
  if (machine_.data_oracle && spec.memory.copies()) {
    machine_.data_oracle->host_has_copies(machine_.topology.host(), spec.gpus + 1);
  }
  const auto watch = [&](unsigned device) -> DataWatch* {
    return machine_.data_oracle ? &machine_.data_oracle->add_device(machine_.engine.partition(device)) : nullptr;
  };
  for (unsigned g = 0; g < spec.gpus; ++g) {
    machine_.gpus.push_back(std::make_unique<Gpu>(machine_.engine.partition(g), machine_.spec_of_gpu(g),
                                                  machine_.topology, machine_.processes, machine_.masks, watch(g),
                                                  oracle));
  }
  machine_.host = std::make_unique<Host>(machine_.engine.partition(spec.gpus), spec, machine_.topology,
                                         machine_.processes, machine_.frames, machine_.masks, watch(spec.gpus), oracle);
  if (spec.has_switch_device()) make_switch_device(watch(spec.gpus + 1));
  for (const auto& plug_in : spec.plug_ins) {
    for (unsigned g = 0; g < spec.gpus; ++g) plug_in->attach(*machine_.gpus[g], machine_.spec_of_gpu(g));
    plug_in->attach(*machine_.host, spec);
  }
}

void MachineBuilder::make_switch_device(DataWatch* watch) {
  const SystemSpec& spec = machine_.spec();
  machine_.switch_device =
      make_switch({machine_.engine.partition(spec.gpus + 1), spec, machine_.topology, machine_.masks, watch});
  for (std::size_t a = 0; a < machine_.processes.size(); ++a) {
    for (const Buffer& buffer : machine_.processes[a].workload->buffers()) {
      if (buffer.placement != Placement::Multicast) continue;
      map_multicast(static_cast<std::uint8_t>(a), machine_.processes[a], buffer);
    }
  }
}

/// Tells the switch the members of the pages of a buffer, whose frames follow each other.
void MachineBuilder::map_multicast(std::uint8_t application, const Process& process, const Buffer& buffer) {
  const PageSize size = process.space->page_size();
  const std::uint64_t pages = (buffer.bytes + size.bytes() - 1) / size.bytes() * size.frames();
  const DeviceId gpu{static_cast<std::uint16_t>(process.first_gpu)};
  for (std::uint64_t p = 0; p < pages; ++p) {
    std::vector<MulticastMember> members;
    std::vector<PhysPage> frames;
    const bool used = p * kPageBytes < buffer.bytes;
    for (std::uint64_t m = 0; used && m < buffer.members.count; ++m) {
      const VirtPage page = page_of(buffer.members.first + (m * buffer.members.apart + p * kPageBytes));
      MulticastMember member{process.space->translate(gpu, page), {}};
      if (machine_.data_oracle) {
        member.first = machine_.data_oracle->locate(application, gpu, page, member.page, false);
      }
      members.push_back(member);
      frames.push_back(member.page);
    }
    if (used && machine_.data_oracle) {
      const VirtPage page = page_of(buffer.base + p * kPageBytes);
      machine_.data_oracle->set_members(process.space->translate(gpu, page), std::move(frames));
    }
    machine_.switch_device->map_next(std::move(members));
  }
}

/// One application has all GPUs; several have one each.
void MachineBuilder::place_applications() {
  const SystemSpec& spec = machine_.spec();
  if (machine_.request.applications.size() > spec.gpus) {
    throw InputError(fmt::format("{} applications need as many GPUs, but the system has {} (set gpus={} or run fewer)",
                                 machine_.request.applications.size(), spec.gpus,
                                 machine_.request.applications.size()));
  }
  if (spec.is_unified() && machine_.request.applications.size() > 1) {
    throw InputError(
        "a unified memory hierarchy (memory.management=umh) runs one application: a kernel boundary of one would wait "
        "for the others");
  }
  const bool alone = machine_.request.applications.size() == 1;
  if (spec.has_instances() && alone && spec.gpus > 1) {
    throw InputError(fmt::format(
        "an instance of a GPU runs an application of its own: give each of {} one, with + between them, or take one "
        "instance (--instances {})",
        spec.mig.instances.text(), spec.mig.instances.alone(0).text()));
  }
  for (unsigned a = 0; a < machine_.request.applications.size(); ++a) {
    Process process;
    process.workload = machine_.request.applications[a];
    process.first_gpu = a;
    process.gpus = alone ? spec.gpus : 1;
    check_workload(*process.workload, machine_.spec_of_gpu(a), process.gpus);
    if (machine_.request.check) check_has_memory_model(*process.workload, spec);
    process.steps = managed_steps(*process.workload, spec.memory);
    load_arguments(process);
    place_buffers(process);
    machine_.processes.push_back(std::move(process));
  }
  for (unsigned d = 0; d < spec.gpus; ++d) check_memory(machine_.frames, machine_.spec_of_gpu(d), d);
  check_memory(machine_.frames, spec, spec.gpus);
}

/// The kernel arguments get their pages behind the program's own.
void MachineBuilder::load_arguments(Process& process) {
  const SystemSpec& spec = machine_.spec();
  if (spec.kernel_arguments == 0) return;
  auto program = std::make_shared<const WithKernelArguments>(process.workload, process.gpus, spec.page.size.bytes(),
                                                             static_cast<std::uint32_t>(spec.kernel_arguments));
  process.arguments = program.get();
  process.workload = std::move(program);
}

/// Where pages lie is the system's choice, or follows from how memory is managed: with a copy of everything in the host
/// and one in the GPUs, or all in the host.
void MachineBuilder::place_buffers(Process& process) {
  const SystemSpec& spec = machine_.spec();
  const auto place = [&](InitialPlacement policy, bool shared) {
    return std::make_unique<AddressSpace>(*process.workload, policy, process.first_gpu, process.gpus,
                                          machine_.topology.host(), machine_.frames, spec.page.size, shared);
  };
  if (spec.memory.copies()) {
    process.space = place(InitialPlacement::Blocks, true);
    process.host_copy = place(InitialPlacement::Host, true);
  } else if (spec.memory.management == MemoryManagement::ZeroCopy || spec.is_unified()) {
    process.space = place(InitialPlacement::Host, true);
  } else {
    process.space = place(spec.placement, false);
  }
}

/// The page tables that exist before the first cycle, from where the buffers are.
void MachineBuilder::fill_page_tables() {
  const SystemSpec& spec = machine_.spec();
  if (spec.translation.kind == TranslationKind::Ideal) return;
  for (std::size_t p = 0; p < machine_.processes.size(); ++p) {
    const auto pid = static_cast<Pid>(p);
    const AddressSpace& space = *machine_.processes[p].space;
    if (spec.translation.kind == TranslationKind::Mmu) {
      fill_records(pid, space);
      continue;
    }
    fill_shared_table(pid, space);
  }
}

/// ats, svm, mig: the one table that the IOMMU, or what instances share, walks.
void MachineBuilder::fill_shared_table(Pid pid, const AddressSpace& space) {
  const SystemSpec& spec = machine_.spec();
  const DeviceId where = spec.translation.kind == TranslationKind::Svm ? DeviceId{0} : machine_.topology.host();
  Iommu& iommu = machine_.host->iommu() != nullptr ? *machine_.host->iommu() : machine_.gpus.front()->svm()->iommu();
  std::unique_ptr<PageTable> table = make_table(where, space);
  PageRequests* requests = machine_.host->page_requests();
  if (requests != nullptr) requests->driver().add_process(pid, space.first_page(), space.pages());
  space.for_each_page([&](std::uint64_t number, bool) {
    // A page of which every GPU has its own is mapped to the first one's: it is only read.
    const PageKey key{pid, number};
    const PhysPage page = space.translate(DeviceId{static_cast<std::uint16_t>(space.first_gpu())},
                                          VirtPage{number << space.page_size().bits});
    if (requests != nullptr) {
      PageRecord& record = requests->driver().new_record(key);
      record.exists = true;
      record.owner = page;
      requests->driver().note_resident(key, page);
      // What lies on the host is mapped when a GPU has asked for it.
      if (page.device() == machine_.topology.host()) return;
    }
    const Mapping mapping{page, true, 0};
    table->write(number, Pte::leaf(mapping, space.page_size().bits == kLargePageBits));
    if (machine_.translation_oracle) machine_.translation_oracle->granted(TranslationOracle::kEveryGpu, key, mapping);
  });
  iommu.set_table(pid, std::move(table));
}

/// A table of a device. All frames that its nodes may need are set aside before the first cycle, also where nodes are
/// made while it runs: a device shares no allocator with the driver, which hands frames out in the host's partition.
std::unique_ptr<PageTable> MachineBuilder::make_table(DeviceId device, const AddressSpace& space) {
  const PageTableSpec& spec = machine_.spec().page_table;
  std::deque<PhysPage> frames;
  const std::uint64_t nodes = PageTable::nodes(spec.levels, space.page_size(), space.first_page(), space.pages());
  while (frames.size() < nodes) frames.push_back(machine_.frames.take_table(device));
  auto table = std::make_unique<PageTable>(spec.levels, space.page_size(), [frames]() mutable {
    const PhysPage frame = frames.front();
    frames.pop_front();
    return frame;
  });
  if (spec.upper == UpperLevels::Prebuilt) table->cover(space.first_page(), space.pages());
  return table;
}

/// mmu: the host's table and record of every page, and what the GPUs' local tables know from the start.
void MachineBuilder::fill_records(Pid pid, const AddressSpace& space) {
  const SystemSpec& spec = machine_.spec();
  HostMmu& mmu = *machine_.host->mmu();
  mmu.add_process(pid, make_table(machine_.topology.host(), space), space.first_page(), space.pages());
  for (const auto& gpu : machine_.gpus) gpu->gmmu()->set_table(pid, make_table(gpu->device(), space));
  const auto gpu_of = [&](unsigned g) -> Gpu& { return *machine_.gpus[space.first_gpu() + g]; };
  space.for_each_page([&](std::uint64_t number, bool is_private) {
    const PageKey key{pid, number};
    const VirtPage first{number << space.page_size().bits};
    PageRecord& record = mmu.driver().new_record(key);
    record.exists = true;
    record.owner = space.translate(gpu_of(0).device(), first);
    record.pinned = is_private || spec.policy == PagePolicy::NoFault;
    if (!record.pinned) mmu.driver().note_resident(key, record.owner);
    if (record.pinned) {
      for (unsigned g = 0; g < space.gpus(); ++g) {
        PhysPage page = space.translate(gpu_of(g).device(), first);
        if (page.device() != gpu_of(g).device()) page = machine_.frames.take(gpu_of(g).device());
        mmu.driver().note_resident(page);
        gpu_of(g).gmmu()->write_mapping(key, {page, true, 0});
        record.holders.set(gpu_of(g).device().value);
      }
    } else if (record.owner.device() != machine_.topology.host()) {
      // A page that starts on a GPU is mapped there.
      machine_.gpus[record.owner.device().value]->gmmu()->write_mapping(key, {record.owner, true, 0});
      record.holders.set(record.owner.device().value);
    }
    mmu.publish_at_start(key);
  });
}

/// Each device counts for itself, on whatever thread it runs.
void MachineBuilder::cover_caches() {
  machine_.coverage.resize(machine_.gpus.size() + 1);
  for (std::size_t g = 0; g < machine_.gpus.size(); ++g) machine_.gpus[g]->cover(machine_.coverage[g]);
  machine_.host->llc().cover(&machine_.coverage.back().host_llc, nullptr);
}

/// The components find the timeline in their partition.
void MachineBuilder::make_timelines() {
  const SystemSpec& spec = machine_.spec();
  const auto pages = pages_by_frame(machine_.processes);
  for (unsigned d = 0; d <= spec.gpus; ++d) {
    Partition& partition = machine_.engine.partition(d);
    TimelineFrames frames(pages, partition.device(), spec.page.size, spec.policy != PagePolicy::Pinned);
    partition.set_timeline(std::make_unique<Timeline>(machine_.request.timeline, kPageShift + spec.page.size.bits,
                                                      spec.gpu.line, std::move(frames)));
    machine_.timelines.push_back(partition.timeline());
  }
}

void MachineBuilder::record_devices() {
  for (const auto& gpu : machine_.gpus) {
    machine_.device_timelines.push_back(std::make_unique<DeviceTimeline>(*gpu, machine_.topology));
  }
  machine_.device_timelines.push_back(std::make_unique<DeviceTimeline>(*machine_.host, machine_.topology));
}

}  // namespace

std::unique_ptr<Machine> build_machine(const RunRequest& request) {
  auto machine = std::make_unique<Machine>(request);
  MachineBuilder(*machine).build();
  return machine;
}

}  // namespace nearfar
