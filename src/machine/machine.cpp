#include "machine/machine.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "machine/builder.h"
#include "machine/check.h"
#include "machine/instances.h"
#include "machine/results.h"
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

void run_engine(Machine& machine) {
  std::uint64_t groups = 0;
  for (const Process& process : machine.processes) {
    for (const Launch& launch : process.workload->launches()) groups += launch.groups();
  }
  Engine::Options options;
  options.window = machine.topology.lookahead();
  if (machine.request.window != 0) options.window = std::min(options.window, machine.request.window);
  options.threads = machine.request.threads;
  if (machine.data_oracle || machine.request.timeline.on) {
    options.between_windows = [&machine] {
      if (machine.data_oracle) machine.data_oracle->merge();
      bound_timelines(machine.timelines, machine.request.timeline.most);
    };
  }
  const WatchdogBounds bounds = watchdog_bounds(machine.spec());
  options.watchdog = bounds.progress;
  options.oldest = bounds.request;
  for (std::size_t g = 0; g < machine.gpus.size(); ++g) machine.engine.watch(g, *machine.gpus[g]);
  if (machine.request.on_progress) {
    options.on_progress = [&](const Partition::Progress& done, Cycle now) {
      machine.request.on_progress({std::min(done.groups, groups), groups, done.accesses, now});
    };
  }
  const Engine::Outcome outcome = machine.engine.run(options);
  if (outcome == Engine::Outcome::Drained && machine.host->commands().finished()) return;
  std::string waiting = machine.host->describe_waiting();
  for (const auto& gpu : machine.gpus) waiting += gpu->describe_waiting();
  if (machine.switch_device) waiting += machine.switch_device->describe_waiting();
  throw SimulationError(fmt::format("{}.\n{}", why_stuck(outcome, bounds, machine.spec()), waiting));
}

/// Whether the old frame of a page may still be accessed when the page has moved: then a frame is all whose contents
/// the data oracle can follow. Copies that a management of memory makes take the data along.
bool pages_move_without_data(const SystemSpec& spec) {
  const bool pages_move =
      spec.translation.kind == TranslationKind::Mmu || spec.translation.kind == TranslationKind::Ats;
  return pages_move && (spec.migration.ideal || spec.migration.waits == MigrationWaits::None);
}

}  // namespace

Machine::Machine(const RunRequest& of)
    : request(of),
      topology(request.system.link, request.system.gpus, request.system.has_switch_device()),
      data_oracle(request.check ? std::make_unique<DataOracle>(static_cast<unsigned>(request.system.gpu.line),
                                                               pages_move_without_data(request.system))
                                : nullptr),
      translation_oracle(request.check ? std::make_unique<TranslationOracle>() : nullptr),
      frames(topology.devices(), request.system.page.size),
      masks(topology.devices()),
      engine(topology.devices()) {
  const SystemSpec& whole = spec();
  for (unsigned i = 0; whole.has_instances() && i < whole.gpus; ++i) {
    instances.push_back(system_of_instance(whole, i));
  }
}

RunResult run(const RunRequest& request) {
  const std::unique_ptr<Machine> machine = build_machine(request);
  Results results(*machine);
  const auto begin = std::chrono::steady_clock::now();
  machine->host->commands().start();
  run_engine(*machine);
  for (const ProtocolCoverage& device : machine->coverage) request.coverage->add(device);
  if (request.check) check_conservation(*machine);
  RunResult result = results.collect();
  result.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.peak_rss_bytes = peak_rss();
  return result;
}

}  // namespace nearfar
