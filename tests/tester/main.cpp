// random_tester: random programs on random tiny machines under the oracles of --check, for as long as it is told.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <thread>

#include "config/error.h"
#include "tester/expected_pairs.h"
#include "tester/soak.h"

namespace {

using namespace nearfar;
using namespace nearfar::tester;

void print_summary(const SoakResult& result) {
  fmt::print("{} episodes, {} accesses, {:.0f} s, {:.2f} M accesses/s\n", result.episodes, result.accesses,
             result.seconds, static_cast<double>(result.accesses) / 1e6 / std::max(result.seconds, 1e-9));
  if (result.stores == 0) return;
  fmt::print("{} posted stores:", result.stores);
  for (const auto& [design, stores] : result.stores_by) fmt::print(" {} {}", design, stores);
  fmt::print("\n");
}

int run_one(std::uint64_t seed, const SoakOptions& options) {
  const Episode episode = draw_episode(seed, options.cuts);
  fmt::print("episode {}\n{}", seed, describe(episode));
  ProtocolCoverage coverage;
  const std::uint64_t accesses = run_episode(episode, coverage);
  fmt::print("{} accesses, no failure\n", accesses);
  return 0;
}

int run_many(const SoakOptions& options, bool quiet) {
  double next = 60;
  const SoakResult result = soak(options, [&](const SoakResult& so_far) {
    if (quiet || so_far.seconds < next) return;
    next = so_far.seconds + 60;
    print_summary(so_far);
    std::fflush(stdout);
  });
  print_summary(result);
  const bool tabled = !options.cuts.posted && !options.cuts.hosted;  // pairs are those of the other machines
  if (tabled) fmt::print("\nevents by the state of the line that they met{}\n", tables(result.coverage));
  const std::string unseen = tabled ? never_seen(result.coverage) : "";
  const std::string wrong = options.cuts.hosted ? "" : should_not_be(result.coverage);
  if (!unseen.empty()) fmt::print("never seen:\n{}\n", unseen);
  if (!wrong.empty()) fmt::print("seen, and should not be:\n{}\n", wrong);
  for (const Failure& failure : result.failures) fmt::print("{}\n", describe(failure));
  if (result.failures.empty() && wrong.empty()) fmt::print("no failure\n");
  return result.failures.empty() && wrong.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Runs random programs on random tiny machines under the oracles, until a limit is reached or one fails.");
  SoakOptions options;
  options.jobs = std::max(1U, std::thread::hardware_concurrency());
  double minutes = 0;
  std::optional<std::uint64_t> episode;
  bool quiet = false;
  app.add_option("--minutes", minutes, "start no episode after so many minutes");
  app.add_option("--accesses", options.accesses, "start no episode after so many accesses");
  app.add_option("--stores", options.stores, "start no episode after so many posted stores; goes with --posted");
  app.add_option("--episodes", options.episodes, "run so many episodes");
  app.add_option("--seed", options.seed, "of the first episode; the others follow");
  app.add_option("--jobs", options.jobs, "episodes at a time; the number of cores by default");
  std::uint64_t episode_seconds = 120;
  app.add_option("--episode-seconds", episode_seconds, "an episode that takes more processor time hangs: a failure");
  app.add_flag("--go-on", options.go_on, "go on after a failure, and shrink none");
  app.add_flag("--quiet", quiet, "no lines while it runs");
  app.add_option("--episode", episode, "run one episode, with the options below, in this process");
  app.add_option("--gpus", options.cuts.gpus, "GPUs of the machine");
  app.add_option("--launches", options.cuts.launches, "launches of the program");
  app.add_option("--groups", options.cuts.groups, "workgroups of a launch");
  app.add_option("--waves", options.cuts.waves, "wavefronts of a workgroup");
  app.add_option("--operations", options.cuts.operations, "operations of a wavefront");
  app.add_option("--without", options.cuts.without, "an action that the program does not take: loads, fences, ...");
  app.add_option("--design", options.cuts.design, "a design in the place of the one that was drawn, or baseline");
  app.add_option("--set", options.cuts.set, "a setting of the machine, path=value");
  app.add_flag("--posted", options.cuts.posted,
               "machines that post their stores, each design at the egress in turn, and programs of stores");
  app.add_flag("--hosted", options.cuts.hosted,
               "machines under every management of memory, and programs whose host works on the data");
  CLI11_PARSE(app, argc, argv);
  options.episode_time = std::chrono::seconds(episode_seconds);
  if (minutes > 0) options.time = std::chrono::milliseconds(static_cast<std::int64_t>(minutes * 60'000));
  constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
  const bool unlimited =
      minutes <= 0 && options.accesses == kNoLimit && options.stores == kNoLimit && options.episodes == kNoLimit;
  if (unlimited) options.time = std::chrono::minutes(1);
  try {
    return episode ? run_one(*episode, options) : run_many(options, quiet);
  } catch (const InputError& error) {
    fmt::print(stderr, "random_tester: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "random_tester: {}\n", error.what());
    return 1;
  }
}
