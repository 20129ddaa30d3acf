#include "machine/machine.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "config/error.h"
#include "machine/remote_prefixes.h"
#include "machine/watchdog_bounds.h"
#include "sim/timeline_end.h"

namespace nearfar {
namespace {

std::uint64_t peak_rss() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

/// What a run that does not end shows: who holds what since when is printed below it.
std::string why_stuck(Engine::Outcome outcome, const WatchdogBounds& bounds, const SystemSpec& spec) {
  const bool own = spec.watchdog == 0;
  const char* system = "longer than anything takes in this system";
  switch (outcome) {
    case Engine::Outcome::Drained: break;
    case Engine::Outcome::NoProgress:
      return fmt::format("the run makes no progress for {} cycles ({})", bounds.progress,
                         own ? system : "watchdog.cycles");
    case Engine::Outcome::Starved:
      return fmt::format("a wavefront has waited for memory for more than {} cycles ({})", bounds.request,
                         own ? system : "16 × watchdog.cycles");
  }
  return "the run makes no progress: nothing is scheduled, but work is left";
}

/// Puts together what the devices noted. One that has noted `most` events has stopped there.
void gather_timeline(Engine& engine, std::size_t most, RunResult& result) {
  const auto host = static_cast<unsigned>(engine.size() - 1);
  Cycle lost_from = kNever;
  std::uint64_t noted = 0;
  for (unsigned d = 0; d <= host; ++d) {
    const Timeline& timeline = *engine.partition(d).timeline();
    result.timeline.insert(result.timeline.end(), timeline.events().begin(), timeline.events().end());
    noted += timeline.events().size() + timeline.lost();
    // Events are noted when they end, or later.
    if (timeline.lost() > 0) lost_from = std::min(lost_from, most == 0 ? 0 : timeline.events().back().end);
  }
  shorten_timeline(result.timeline, most, lost_from, host);
  result.timeline_lost = noted - result.timeline.size();
  std::ranges::stable_sort(result.timeline, {}, &TimelineEvent::start);
}

}  // namespace

RunResult run(const RunRequest& request) { return Machine(request).run(); }

Machine::Machine(const RunRequest& request)
    : request_(request),
      topology_(request_.system.link, request_.system.gpus),
      // Where pages move without their data, a frame is all whose contents are followed.
      data_oracle_(request_.check ? std::make_unique<DataOracle>(static_cast<unsigned>(request_.system.gpu.line),
                                                                 request_.system.migration.ideal)
                                  : nullptr),
      translation_oracle_(request_.check ? std::make_unique<TranslationOracle>() : nullptr),
      frames_(request_.system.gpus + 1, request_.system.page.size),
      engine_(request_.system.gpus + 1),
      first_executions_(request_.system.gpus),
      first_served_(request_.system.gpus) {
  place_applications();
  const SystemSpec& spec = request_.system;
  for (unsigned d = 0; request_.timeline.on && d <= spec.gpus; ++d) {
    engine_.partition(d).set_timeline(std::make_unique<Timeline>(request_.timeline, kPageShift + spec.page.size.bits));
  }
  const auto watch = [&](unsigned device) -> DataWatch* {
    return data_oracle_ ? &data_oracle_->add_device(engine_.partition(device)) : nullptr;
  };
  for (unsigned g = 0; g < spec.gpus; ++g) {
    gpus_.push_back(
        std::make_unique<Gpu>(engine_.partition(g), spec, topology_, processes_, watch(g), translation_oracle_.get()));
  }
  host_ = std::make_unique<Host>(engine_.partition(spec.gpus), spec, topology_, processes_, frames_, watch(spec.gpus),
                                 translation_oracle_.get());
  for (const auto& plug_in : spec.plug_ins) {
    for (const auto& gpu : gpus_) plug_in->attach(*gpu, spec);
    plug_in->attach(*host_, spec);
  }
  if (request_.coverage != nullptr) cover_caches();
  fill_page_tables();
  if (processes_.size() > 1) {
    for (unsigned g = 0; g < spec.gpus; ++g) {
      gpus_[g]->dispatcher().on_first_execution = [this, g] {
        first_executions_[g] = std::make_unique<StatTable>(gpu_table(*gpus_[g]));
      };
    }
    // Nothing of a GPU is under way at the host when its application's first execution ends.
    host_->commands().on_first_execution = [this](std::size_t application) {
      const Process& process = processes_[application];
      if (host_->served_misses() == nullptr) return;
      for (unsigned g = process.first_gpu; g < process.first_gpu + process.gpus; ++g) {
        first_served_[g] = host_->served_misses()->of(gpus_[g]->device());
      }
    };
  }
}

/// One application has all GPUs; several have one each.
void Machine::place_applications() {
  const SystemSpec& spec = request_.system;
  if (request_.applications.size() > spec.gpus) {
    throw InputError(fmt::format("{} applications need as many GPUs, but the system has {} (set gpus={} or run fewer)",
                                 request_.applications.size(), spec.gpus, request_.applications.size()));
  }
  const bool alone = request_.applications.size() == 1;
  for (unsigned a = 0; a < request_.applications.size(); ++a) {
    Process process;
    process.workload = request_.applications[a];
    process.first_gpu = a;
    process.gpus = alone ? spec.gpus : 1;
    for (const Launch& launch : process.workload->launches()) {
      const std::uint64_t waves = launch.waves(spec.gpu.wavefront);
      const std::uint64_t slots = std::uint64_t{spec.gpu.cu.simds} * spec.gpu.cu.waves_per_simd;
      if (waves > slots || launch.local_bytes > spec.gpu.cu.local_memory) {
        throw InputError(
            fmt::format("a workgroup of kernel '{}' needs {} wavefronts and {} B of local memory, but a compute unit "
                        "has {} and {} B "
                        "(gpu.cu.simds × gpu.cu.waves_per_simd, gpu.cu.local_memory)",
                        launch.kernel, waves, launch.local_bytes, slots, spec.gpu.cu.local_memory));
      }
    }
    process.space = std::make_unique<AddressSpace>(*process.workload, spec.placement, process.first_gpu, process.gpus,
                                                   topology_.host(), frames_, spec.page.size);
    processes_.push_back(std::move(process));
  }
  check_memory();
}

void Machine::check_memory() const {
  const SystemSpec& spec = request_.system;
  for (unsigned d = 0; d <= spec.gpus; ++d) {
    const std::uint64_t needed = frames_.taken(DeviceId{static_cast<std::uint8_t>(d)}) * kPageBytes;
    const std::uint64_t capacity = d < spec.gpus ? spec.gpu.dram.capacity : spec.host.dram.capacity;
    if (needed <= capacity) continue;
    throw InputError(fmt::format("the workload places {} MiB on {}, but {} is {} MiB", needed >> 20,
                                 d < spec.gpus ? fmt::format("GPU {}", d) : "the host",
                                 d < spec.gpus ? "gpu.dram.capacity" : "host.dram.capacity", capacity >> 20));
  }
}

/// The page tables that exist before the first cycle, from where the buffers are.
void Machine::fill_page_tables() {
  const SystemSpec& spec = request_.system;
  if (spec.translation.kind == TranslationKind::Ideal) return;
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    const auto pid = static_cast<Pid>(p);
    const AddressSpace& space = *processes_[p].space;
    if (spec.translation.kind == TranslationKind::Mmu) {
      fill_records(pid, space);
      continue;
    }
    const DeviceId where = spec.translation.kind == TranslationKind::Svm ? DeviceId{0} : topology_.host();
    Iommu& iommu = host_->iommu() != nullptr ? *host_->iommu() : gpus_.front()->svm()->iommu();
    std::unique_ptr<PageTable> table = make_table(where, space);
    PageRequests* requests = host_->page_requests();
    if (requests != nullptr) requests->driver().add_process(pid, space.first_page(), space.pages());
    space.for_each_page([&](std::uint64_t number, bool) {
      // A page of which every GPU has its own is mapped to the first one's: it is only read.
      const PageKey key{pid, number};
      const PhysPage page = space.translate(DeviceId{static_cast<std::uint8_t>(space.first_gpu())},
                                            VirtPage{number << space.page_size().bits});
      if (requests != nullptr) {
        PageRecord& record = requests->driver().new_record(key);
        record.exists = true;
        record.owner = page;
        requests->driver().note_resident(key, page);
        // What lies on the host is mapped when a GPU has asked for it.
        if (page.device() == topology_.host()) return;
      }
      const Mapping mapping{page, true, 0};
      table->write(number, Pte::leaf(mapping, space.page_size().bits != 0));
      if (translation_oracle_) translation_oracle_->granted(TranslationOracle::kEveryGpu, key, mapping);
    });
    iommu.set_table(pid, std::move(table));
  }
}

/// A table of a device. All frames that its nodes may need are set aside before the first cycle, also where nodes are
/// made while it runs: a device shares no allocator with the driver, which hands frames out in the host's partition.
std::unique_ptr<PageTable> Machine::make_table(DeviceId device, const AddressSpace& space) {
  const PageTableSpec& spec = request_.system.page_table;
  std::deque<PhysPage> frames;
  const std::uint64_t nodes = PageTable::nodes(spec.levels, space.page_size(), space.first_page(), space.pages());
  while (frames.size() < nodes) frames.push_back(frames_.take_table(device));
  auto table = std::make_unique<PageTable>(spec.levels, space.page_size(), [frames]() mutable {
    const PhysPage frame = frames.front();
    frames.pop_front();
    return frame;
  });
  if (spec.upper == UpperLevels::Prebuilt) table->cover(space.first_page(), space.pages());
  return table;
}

/// mmu: the host's table and record of every page, and what the GPUs' local tables know from the start.
void Machine::fill_records(Pid pid, const AddressSpace& space) {
  const SystemSpec& spec = request_.system;
  HostMmu& mmu = *host_->mmu();
  mmu.add_process(pid, make_table(topology_.host(), space), space.first_page(), space.pages());
  for (const auto& gpu : gpus_) gpu->gmmu()->set_table(pid, make_table(gpu->device(), space));
  const auto gpu_of = [&](unsigned g) -> Gpu& { return *gpus_[space.first_gpu() + g]; };
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
        if (page.device() != gpu_of(g).device()) page = frames_.take(gpu_of(g).device());
        mmu.driver().note_resident(page);
        gpu_of(g).gmmu()->write_mapping(key, {page, true, 0});
        record.holders.set(gpu_of(g).device().value);
      }
    } else if (record.owner.device() != topology_.host()) {
      // A page that starts on a GPU is mapped there.
      gpus_[record.owner.device().value]->gmmu()->write_mapping(key, {record.owner, true, 0});
      record.holders.set(record.owner.device().value);
    }
    mmu.publish_at_start(key);
  });
}

RunResult Machine::run() {
  const auto begin = std::chrono::steady_clock::now();
  host_->commands().start();
  run_engine();
  for (const ProtocolCoverage& device : coverage_) request_.coverage->add(device);
  if (request_.check) check_drained();
  RunResult result = this->result();
  result.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.peak_rss_bytes = peak_rss();
  return result;
}

void Machine::run_engine() {
  std::uint64_t groups = 0;
  for (const Process& process : processes_) {
    for (const Launch& launch : process.workload->launches()) groups += launch.groups();
  }
  Engine::Options options;
  options.window = topology_.lookahead();
  if (request_.window != 0) options.window = std::min(options.window, request_.window);
  options.threads = request_.threads;
  if (data_oracle_) options.between_windows = [this] { data_oracle_->merge(); };
  const WatchdogBounds bounds = watchdog_bounds(request_.system);
  options.watchdog = bounds.progress;
  options.oldest = bounds.request;
  for (std::size_t g = 0; g < gpus_.size(); ++g) engine_.watch(g, *gpus_[g]);
  if (request_.on_progress) {
    options.on_progress = [&](const Partition::Progress& done, Cycle now) {
      request_.on_progress({std::min(done.groups, groups), groups, done.accesses, now});
    };
  }
  const Engine::Outcome outcome = engine_.run(options);
  if (outcome == Engine::Outcome::Drained && host_->commands().finished()) return;
  std::string waiting = host_->describe_waiting();
  for (const auto& gpu : gpus_) waiting += gpu->describe_waiting();
  throw SimulationError(fmt::format("{}.\n{}", why_stuck(outcome, bounds, request_.system), waiting));
}

/// Each device counts for itself, on whatever thread it runs.
void Machine::cover_caches() {
  coverage_.resize(gpus_.size() + 1);
  for (std::size_t g = 0; g < gpus_.size(); ++g) gpus_[g]->cover(coverage_[g]);
  host_->llc().cover(&coverage_.back().host_llc);
}

/// Conservation: every request that entered has left, every byte sent has arrived, every credit is home.
void Machine::check_drained() {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  const auto count = [&](NetworkInterface& network) {
    LinkStats& stats = network.stats();
    sent += stats.request_bytes + stats.reply_bytes + stats.control_bytes + stats.message_bytes;
    received += stats.received_bytes;
  };
  // The event of a device's link lives as long as the device.
  const auto left_over = [&](std::size_t device) { return engine_.partition(device).pool().live() - 1; };
  for (unsigned g = 0; g < gpus_.size(); ++g) {
    Gpu& gpu = *gpus_[g];
    const std::uint64_t alive = left_over(g);
    if (!gpu.idle() || alive != 0) {
      throw SimulationError(
          fmt::format("check: {} transactions are left in GPU {} at the end.\n{}", alive, g, gpu.describe_waiting()));
    }
    count(gpu.network());
    gpu.parts().check();
  }
  host_->parts().check();
  if (!host_->idle() || left_over(gpus_.size()) != 0) {
    throw SimulationError("check: transactions are left in the host at the end.\n" + host_->describe_waiting());
  }
  count(host_->network());
  if (sent != received) {
    throw SimulationError(fmt::format("check: {} bytes were sent over the links and {} received", sent, received));
  }
  std::vector<NetworkInterface*> networks;
  for (const auto& gpu : gpus_) networks.push_back(&gpu->network());
  networks.push_back(&host_->network());
  for (const NetworkInterface* at : networks) {
    for (const NetworkInterface* from : networks) {
      if (!at->credits_settled(*from)) throw SimulationError("check: credits of a link were lost");
    }
  }
  // A kernel's end writes the GPUs' caches back, not the host's, where pages may lie that GPUs have mapped.
  data_oracle_->merge();
  for (unsigned g = 0; request_.system.write_back_at_release && g < gpus_.size(); ++g) {
    data_oracle_->watch(gpus_[g]->device()).check_written_back();
  }
}

/// The statistics of one GPU, added up over its units, under names that its place in the machine is put before.
StatTable Machine::gpu_table(Gpu& gpu) {
  StatTable table;
  gpu.for_each_stats([&](const std::string&, const std::string& kind, auto& stats) { table.add(kind + ".", stats); });
  return table;
}

StatTable Machine::collect() {
  StatTable table;
  LoadLatency latency;
  for (unsigned g = 0; g < gpus_.size(); ++g) {
    StatTable gpu = first_executions_[g] ? *first_executions_[g] : gpu_table(*gpus_[g]);
    if (const ServedMisses* served = host_->served_misses()) {
      MissStats elsewhere = first_executions_[g] ? first_served_[g] : served->of(gpus_[g]->device());
      gpu.add("l2_miss.", elsewhere);
    }
    table.merge(fmt::format("gpu{}.", g), gpu);
    table.merge("gpus.", gpu);
    gpus_[g]->add_latency(latency);
    if (!request_.per_unit) continue;
    gpus_[g]->for_each_stats([&](const std::string& unit, const std::string&, auto& stats) {
      if (!unit.empty()) table.add(fmt::format("gpu{}.{}.", g, unit), stats);
    });
  }
  host_->for_each_stats([&](const std::string& kind, auto& stats) { table.add("host." + kind + ".", stats); });
  latency.add_stages(host_->llc().latency());
  table.add("latency.load.", latency);
  add_translation(table);
  add_sharing(table);
  if (gpus_.front()->l2_tlb() != nullptr) add_processes(table);

  for (const char* what : {"packets", "bytes"}) {
    std::uint64_t sum = 0;
    for (const char* who : {"gpus", "host"}) {
      for (const char* kind : {"request", "reply", "control", "message"}) {
        sum += table.at(fmt::format("{}.link.{}_{}", who, kind, what));
      }
    }
    table.set(fmt::format("link.{}", what), sum);
  }
  return table;
}

/// Sharing among the GPUs of each application, from what each noted.
void Machine::add_sharing(StatTable& table) {
  if (!request_.system.translation.observe) return;
  SharingStats sharing;
  std::vector<const std::vector<L2Tlb::Snapshot>*> snapshots;
  for (const Process& process : processes_) {
    std::vector<const PageTouches*> touches;
    for (unsigned g = 0; g < process.gpus; ++g) touches.push_back(&gpus_[process.first_gpu + g]->touches());
    sharing.add_touches(touches);
  }
  for (const auto& gpu : gpus_) {
    if (gpu->l2_tlb() != nullptr) snapshots.push_back(&gpu->l2_tlb()->snapshots());
  }
  sharing.add_snapshots(snapshots, host_->iommu() == nullptr ? nullptr : &host_->iommu()->snapshots());
  table.add("", sharing);
  add_series(sharing);
  if (host_->mmu() == nullptr) return;
  std::vector<const std::vector<GmmuEvent>*> events;
  for (const auto& gpu : gpus_) events.push_back(&gpu->gmmu()->events());
  RemotePrefixStats prefixes;
  prefixes.add(events, request_.system.gpu.gmmu.cache.entries, host_->mmu()->table(0).leaf(),
               host_->mmu()->table(0).root());
  table.add("host.mmu.", prefixes);
}

/// What the TLBs held, instant by instant.
void Machine::add_series(const SharingStats& sharing) {
  const Cycle every = request_.system.translation.snapshot;
  if (Iommu* iommu = host_->iommu()) {
    for (unsigned g = 0; g < gpus_.size(); ++g) {
      Series series{fmt::format("iommu.tlb.occupancy.gpu{}", g), every, {}};
      for (const auto& homes : iommu->occupancy()) series.values.push_back(homes[g]);
      series_.push_back(std::move(series));
    }
  }
  using Held = SharingStats::Held;
  const auto add = [&](const char* name, std::uint64_t Held::*value) {
    Series series{name, every, {}};
    for (const Held& held : sharing.instants) series.values.push_back(held.*value);
    series_.push_back(std::move(series));
  };
  add("tlb.snapshot.in_one_l2", &Held::in_one_l2);
  add("tlb.snapshot.in_several_l2", &Held::in_several_l2);
  add("tlb.snapshot.in_l2_and_iommu", &Held::in_l2_and_iommu);
  add("tlb.snapshot.total", &Held::total);
  std::ranges::sort(series_, {}, &Series::name);
}

/// A GPU runs one of several processes: what is its L2 TLB's is that process's.
void Machine::add_processes(StatTable& table) {
  if (processes_.size() == 1) return;
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    for (const char* what : kProcessTlbStats) {
      table.set(fmt::format("gpus.l2_tlb.{}.pid{}", what, p),
                table.at(fmt::format("gpu{}.l2_tlb.{}", processes_[p].first_gpu, what)));
    }
  }
}

/// The IOMMU's walkers, with what was observed of them.
void Machine::add_walkers(StatTable& table, WalkUnit& walkers) {
  table.add("iommu.", walkers.stats());
  if (walkers.concurrency() != nullptr) table.add("iommu.", walkers.concurrency()->stats());
}

/// What is the machine's as a whole: misses of all L2 TLBs, the driver, the IOMMU.
void Machine::add_translation(StatTable& table) {
  for (const auto& gpu : gpus_) {
    if (gpu->l2_tlb() != nullptr) table.add("l2_miss.", gpu->l2_tlb()->miss_stats());
    if (gpu->svm() == nullptr) continue;
    MissStats served = gpu->svm()->iommu().parts().total();
    table.add("l2_miss.", served);
    table.add("iommu.", gpu->svm()->iommu().stats());
    add_walkers(table, gpu->svm()->iommu().walkers());
  }
  if (const ServedMisses* served = host_->served_misses()) {
    MissStats total = served->total();
    table.add("l2_miss.", total);
  }
  if (HostMmu* mmu = host_->mmu()) {
    table.add("uvm.", mmu->driver().stats());
  }
  if (PageRequests* requests = host_->page_requests()) table.add("uvm.", requests->driver().stats());
  if (Iommu* iommu = host_->iommu()) {
    table.add("iommu.", iommu->stats());
    add_walkers(table, iommu->walkers());
  }
}

RunResult Machine::result() {
  RunResult result;
  StatTable table = collect();
  result.cycles = host_->commands().end();
  result.events = engine_.events();
  for (const LaunchRecord& record : host_->commands().records()) {
    const Launch& launch = processes_[record.application].workload->launches()[record.launch];
    result.launches.push_back(
        {launch.kernel, record.application, record.start, record.end, record.instructions, record.accesses});
    result.instructions += record.instructions;
    result.accesses += record.accesses;
    for (const std::string& place :
         {fmt::format("kernel.{}.", launch.kernel), fmt::format("app{}.", record.application)}) {
      table.increase(place + "cycles", record.end - record.start);
      table.increase(place + "instructions", record.instructions);
      table.increase(place + "accesses", record.accesses);
      table.increase(place + "launches", 1);
    }
  }
  table.set("run.cycles", result.cycles);
  table.set("run.instructions", result.instructions);
  table.set("run.accesses", result.accesses);
  table.set("run.launches", result.launches.size());
  result.statistics = table.values();
  result.series = series_;
  if (request_.timeline.on) gather_timeline(engine_, request_.timeline.most, result);
  return result;
}

}  // namespace nearfar
