#include "explore/explorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "config/error.h"
#include "config/words.h"
#include "designs/names.h"
#include "explore/result_view.h"
#include "machine/system_file.h"
#include "workload/mixes.h"

namespace nearfar {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRuns = 1000;  // of one request

std::string exploration_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// The words under a key; an InputError where there are none, or something else.
std::vector<std::string> words_of(const Json& request, const char* key, bool may_be_empty) {
  if (!request.contains(key) && may_be_empty) return {};
  const bool list = request.contains(key) && request[key].is_array() &&
                    std::ranges::all_of(request[key], [](const Json& each) { return each.is_string(); });
  if (!list) throw InputError(fmt::format("The request wants a list of words under `{}`.", key));
  auto words = request[key].get<std::vector<std::string>>();
  if (words.empty() && !may_be_empty) throw InputError(fmt::format("Nothing is chosen under `{}`.", key));
  return words;
}

std::vector<NamedRun> runs_of(const std::string& text) {
  const Json request = Json::parse(text, nullptr, false);
  if (!request.is_object()) throw InputError("The request is no JSON object.");
  const auto workloads = words_of(request, "workloads", false), systems = words_of(request, "systems", false),
             designs = words_of(request, "designs", false), settings = words_of(request, "settings", true);
  if (request.contains("size") && !request["size"].is_string())
    throw InputError("The size is `small`, `medium` or `paper`.");
  const SizeClass size = parse_size(request.value("size", "small"));
  if (workloads.size() * systems.size() * designs.size() > kMostRuns) {
    throw InputError(fmt::format("{} runs are more than the {} that one request may ask for.",
                                 workloads.size() * systems.size() * designs.size(), kMostRuns));
  }
  std::vector<NamedRun> runs;
  for (const std::string& workload : workloads) {
    for (const std::string& system : systems) {
      for (const std::string& design : designs) {
        NamedRun run;
        run.workload = workload;
        run.size = size;
        run.system = system;
        run.designs = design;
        run.overrides = settings;
        runs.push_back(std::move(run));
      }
    }
  }
  return runs;
}

}  // namespace

Explorer::Explorer(Options options) : options_(std::move(options)) {
  const ResultStore store(options_.database);  // for its complaints
  news_.json = "{\"total\":0,\"done\":0,\"failed\":0,\"waiting\":0,\"active\":[]}";
  worker_ = std::thread([this] { work(); });
}

Explorer::~Explorer() {
  close();
  worker_.join();
}

void Explorer::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

std::string Explorer::choices() const {
  Json out = {{"workloads", Json::array()}, {"systems", Json::array()}, {"designs", Json::array()}};
  for (const WorkloadInfo& info : catalog())
    out["workloads"].push_back({{"name", info.name}, {"sentence", info.title}});
  for (const Mix& mix : mixes()) {
    out["workloads"].push_back({{"name", mix.name}, {"sentence", join(mix.workloads, ", ") + ", a GPU each"}});
  }
  for (const SystemSummary& system : list_systems())
    out["systems"].push_back({{"name", system.name}, {"sentence", system.sentence}});
  for (const DesignInfo& design : list_designs())
    out["designs"].push_back({{"name", design.name}, {"sentence", design.sentence}});
  out["sizes"] = {"small", "medium", "paper"};
  return exploration_text(out);
}

std::string Explorer::submit(const std::string& request) {
  const std::vector<NamedRun> runs = runs_of(request);
  std::vector<PlannedRun> planned;
  Planner planner;  // a new one each time: systems are files, which a person may have changed
  for (const NamedRun& run : runs) planned.push_back(planner.plan(run));
  check_inputs(runs);
  const ResultStore store(options_.database);
  Json out = {{"runs", Json::array()}};
  for (const PlannedRun& plan : planned) {
    out["runs"].push_back({{"key", plan.key},
                           {"label", run_label(plan.run)},
                           {"workload", plan.run.workload},
                           {"system", plan.run.system},
                           {"design", plan.run.designs},
                           {"stored", store.contains(plan.key)}});
  }
  const std::lock_guard lock(mutex_);
  for (const PlannedRun& plan : planned) known_.insert_or_assign(plan.key, plan);
  waiting_.push_back(std::move(planned));
  changed_.notify_all();
  return exploration_text(out);
}

void Explorer::stop_runs() {
  const std::lock_guard lock(mutex_);
  waiting_.clear();
  stop_ = true;
}

PlannedRun Explorer::known(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key);
  if (found == known_.end())
    throw InputError(fmt::format("There is no run `{}` among those that were asked for.", key));
  return found->second;
}

std::string Explorer::result(const std::string& key) {
  const PlannedRun run = known(key);
  const ResultStore store(options_.database);
  const auto stored = store.find(key);
  if (stored) return result_view(run.run, *stored);
  Json out = {{"key", key}, {"label", run_label(run.run)}, {"stored", false}};
  if (const auto failure = store.failure(key)) out["error"] = failure->error;
  return exploration_text(out);
}

std::string Explorer::difference(const std::string& key, const std::string& against) {
  const PlannedRun one = known(key), other = known(against);
  const ResultStore store(options_.database);
  for (const std::string* wanted : {&key, &against}) {
    if (!store.contains(*wanted)) throw InputError(fmt::format("The run `{}` has no result yet.", *wanted));
  }
  return difference_view(store.json(against), store.json(key));
}

Explorer::News Explorer::news_after(std::uint64_t seen, double seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return closed_ || news_.number > seen; });
  return news_;
}

void Explorer::publish(const StudyProgress& progress) {
  Json active = Json::array();
  for (const ActiveRun& run : progress.active) {
    active.push_back({{"label", run.label}, {"share", run.share}, {"seconds", run.seconds}});
  }
  const std::lock_guard lock(mutex_);
  news_.json = exploration_text({{"total", progress.total},
                                 {"done", progress.done},
                                 {"failed", progress.failed},
                                 {"waiting", waiting_.size()},
                                 {"seconds_left", progress.seconds_left},
                                 {"active", active},
                                 {"event", progress.event}});
  ++news_.number;
  changed_.notify_all();
}

void Explorer::perform(const std::vector<PlannedRun>& batch) {
  StudyProgress last;
  try {
    ResultStore store(options_.database);
    RunnerOptions options;
    options.jobs = options_.jobs;
    options.program = options_.program;
    options.stop = [this] { return stop_ || closed_; };
    options.on_progress = [&](const StudyProgress& progress) {
      last = progress;
      publish(progress);
    };
    last.event = run_missing(batch, store, options).interrupted ? "stopped" : "all runs have ended";
  } catch (const std::exception& error) {
    last.event = fmt::format("the runs ended: {}", error.what());
  }
  last.active.clear();
  publish(last);
}

void Explorer::work() {
  for (;;) {
    std::vector<PlannedRun> batch;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
      if (closed_) return;
      batch = std::move(waiting_.front());
      waiting_.pop_front();
      stop_ = false;
    }
    perform(batch);
  }
}

}  // namespace nearfar
