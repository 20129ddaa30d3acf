#include "machine/machine.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "config/error.h"

namespace nearfar {
namespace {

std::uint64_t peak_rss() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

RunResult run(const RunRequest& request) { return Machine(request).run(); }

Machine::Machine(const RunRequest& request)
    : request_(request),
      topology_(request_.system.link, request_.system.gpus),
      oracle_(request_.check ? std::make_unique<Oracle>() : nullptr),
      engine_(request_.system.gpus + 1),
      first_executions_(request_.system.gpus) {
  place_applications();
  const SystemSpec& spec = request_.system;
  for (unsigned g = 0; g < spec.gpus; ++g) {
    gpus_.push_back(std::make_unique<Gpu>(engine_.partition(g), spec, topology_, processes_, oracle_.get()));
  }
  host_ = std::make_unique<Host>(engine_.partition(spec.gpus), spec, topology_, processes_, oracle_.get());
  if (processes_.size() > 1) {
    for (unsigned g = 0; g < spec.gpus; ++g) {
      gpus_[g]->on_first_execution = [this, g](Gpu& gpu) {
        first_executions_[g] = std::make_unique<StatTable>(gpu_table(gpu));
      };
    }
  }
}

/// One application has all GPUs; several have one each.
void Machine::place_applications() {
  const SystemSpec& spec = request_.system;
  if (request_.applications.size() > spec.gpus) {
    throw InputError(fmt::format("{} applications need as many GPUs, but the system has {} (set gpus={} or run fewer)",
                                 request_.applications.size(), spec.gpus, request_.applications.size()));
  }
  FrameAllocator frames(spec.gpus + 1);
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
                                                   topology_.host(), frames);
    processes_.push_back(std::move(process));
  }
  check_memory(frames);
}

void Machine::check_memory(const FrameAllocator& frames) const {
  const SystemSpec& spec = request_.system;
  for (unsigned d = 0; d <= spec.gpus; ++d) {
    const std::uint64_t needed = frames.taken(DeviceId{static_cast<std::uint8_t>(d)}) * kPageBytes;
    const std::uint64_t capacity = d < spec.gpus ? spec.gpu.dram.capacity : spec.host.dram.capacity;
    if (needed <= capacity) continue;
    throw InputError(fmt::format("the workload places {} MiB on {}, but {} is {} MiB", needed >> 20,
                                 d < spec.gpus ? fmt::format("GPU {}", d) : "the host",
                                 d < spec.gpus ? "gpu.dram.capacity" : "host.dram.capacity", capacity >> 20));
  }
}

RunResult Machine::run() {
  const auto begin = std::chrono::steady_clock::now();
  host_->start();
  run_engine();
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
  options.threads = request_.check ? 1 : request_.threads;
  options.watchdog = request_.system.watchdog;
  if (request_.on_progress) {
    options.on_progress = [&](const Partition::Progress& done, Cycle now) {
      request_.on_progress({std::min(done.groups, groups), groups, done.accesses, now});
    };
  }
  const Engine::Outcome outcome = engine_.run(options);
  if (outcome == Engine::Outcome::Drained && host_->finished()) return;
  std::string waiting = host_->describe_waiting();
  for (const auto& gpu : gpus_) waiting += gpu->describe_waiting();
  throw SimulationError(fmt::format("the run makes no progress{}.\n{}",
                                    outcome == Engine::Outcome::Drained
                                        ? ": nothing is scheduled, but work is left"
                                        : fmt::format(" for {} cycles (watchdog.cycles)", request_.system.watchdog),
                                    waiting));
}

/// Conservation: every request that entered has left, every byte sent has arrived, every credit is home.
void Machine::check_drained() {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  const auto count = [&](Fabric& fabric) {
    FabricStats& stats = fabric.stats();
    sent += stats.request_bytes + stats.reply_bytes + stats.control_bytes;
    received += stats.received_bytes;
  };
  for (unsigned g = 0; g < gpus_.size(); ++g) {
    Gpu& gpu = *gpus_[g];
    const std::uint64_t alive = engine_.partition(g).pool().live() - gpu.permanent_transactions();
    if (!gpu.idle() || alive != 0) {
      throw SimulationError(
          fmt::format("check: {} transactions are left in GPU {} at the end.\n{}", alive, g, gpu.describe_waiting()));
    }
    count(gpu.fabric());
  }
  if (!host_->idle() || engine_.partition(gpus_.size()).pool().live() != 1) {
    throw SimulationError("check: transactions are left in the host at the end.\n" + host_->describe_waiting());
  }
  count(host_->fabric());
  if (sent != received) {
    throw SimulationError(fmt::format("check: {} bytes were sent over the links and {} received", sent, received));
  }
  std::vector<Fabric*> fabrics;
  for (const auto& gpu : gpus_) fabrics.push_back(&gpu->fabric());
  fabrics.push_back(&host_->fabric());
  for (const Fabric* at : fabrics) {
    for (const Fabric* from : fabrics) {
      if (!at->credits_settled(*from)) throw SimulationError("check: credits of a link were lost");
    }
  }
  if (request_.system.write_back_at_release && request_.system.placement != PlacementPolicy::Host) {
    oracle_->all_written_back();
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
    const StatTable gpu = first_executions_[g] ? *first_executions_[g] : gpu_table(*gpus_[g]);
    table.merge(fmt::format("gpu{}.", g), gpu);
    table.merge("gpus.", gpu);
    gpus_[g]->add_latency(latency);
    if (!request_.per_unit) continue;
    gpus_[g]->for_each_stats([&](const std::string& unit, const std::string&, auto& stats) {
      if (!unit.empty()) table.add(fmt::format("gpu{}.{}.", g, unit), stats);
    });
  }
  host_->for_each_stats([&](const std::string& kind, auto& stats) { table.add("host." + kind + ".", stats); });
  latency.add_stages(host_->home().latency());
  table.add("latency.load.", latency);

  for (const char* what : {"packets", "bytes"}) {
    std::uint64_t sum = 0;
    for (const char* who : {"gpus", "host"}) {
      for (const char* kind : {"request", "reply", "control"}) {
        sum += table.at(fmt::format("{}.link.{}_{}", who, kind, what));
      }
    }
    table.set(fmt::format("link.{}", what), sum);
  }
  return table;
}

RunResult Machine::result() {
  RunResult result;
  StatTable table = collect();
  result.cycles = host_->end();
  result.events = engine_.events();
  for (const LaunchRecord& record : host_->records()) {
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
  return result;
}

}  // namespace nearfar
