// Options that several commands share, and what they mean once read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/error.h"
#include "study/experiment.h"

namespace CLI {
class App;
}

namespace nearfar {

inline constexpr const char* kDefaultSystem = "ideal-4gpu";
inline constexpr const char* kDefaultDatabase = "nearfar.db";

/// What an option's value is. --help shows it, and shell completion chooses its words by it.
namespace value_kind {
inline constexpr const char* kWorkload = "WORKLOAD";
inline constexpr const char* kWorkloads = "WORKLOADS";
inline constexpr const char* kSize = "SIZE";
inline constexpr const char* kParameter = "NAME=VALUE";
inline constexpr const char* kSystem = "SYSTEM";
inline constexpr const char* kSystems = "SYSTEMS";
inline constexpr const char* kInstances = "INSTANCES";
inline constexpr const char* kSetting = "KEY=VALUE";
inline constexpr const char* kSettings = "KEY=V1,V2";
inline constexpr const char* kDesign = "DESIGN";
inline constexpr const char* kDesigns = "DESIGNS";
inline constexpr const char* kNumber = "N";
inline constexpr const char* kTiming = "TIMING";
inline constexpr const char* kTraceFormat = "FORMAT";
inline constexpr const char* kHostEvents = "HOST";
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kRange = "FROM-TO";
inline constexpr const char* kAddresses = "ADDRESSES";
inline constexpr const char* kTimelineSubject = "SUBJECTS";
inline constexpr const char* kFileSize = "BYTES";
inline constexpr const char* kStudy = "STUDY";
inline constexpr const char* kStudies = "STUDIES";
inline constexpr const char* kPapers = "PAPERS";
inline constexpr const char* kPapersAndStudies = "NAMES";
inline constexpr const char* kCalibration = "PAPER";
inline constexpr const char* kFolder = "FOLDER";
inline constexpr const char* kExecutor = "EXECUTOR";
inline constexpr const char* kWords = "WORDS";
inline constexpr const char* kSubject = "SUBJECT";
inline constexpr const char* kShell = "SHELL";
}  // namespace value_kind

/// The options as typed; numbers stay text until `experiment` reads them, so that errors are in our own words.
struct ExperimentArguments {
  std::string size = "medium";
  std::vector<std::string> parameters;
  std::string seed = "1";
  std::string input;
  std::string timing;
  std::string threads = "1";
  bool check = false;
  bool per_unit = false;
  bool quiet = false;

  /// For runs of `workloads`, each as `nearfar run` takes it.
  Experiment experiment(const std::vector<std::string>& workloads) const;
};

// CLI11 takes long to compile: these keep it out of the commands' files.
CLI::App& add_command(CLI::App& program, const std::string& name, const std::string& sentence);
/// Whether this command, or part of one, was named.
bool was_chosen(const CLI::App& app);
void add_flag(CLI::App& app, const std::string& names, bool& value, const std::string& sentence);
/// An option with one value, which may not be empty.
void add_value(CLI::App& app, const std::string& names, std::string& value, const char* kind,
               const std::string& sentence);
/// An option between programs, which no person needs to see.
void add_hidden_value(CLI::App& app, const std::string& name, std::string& value);
/// An option that may be repeated, with one value each time.
void add_values(CLI::App& app, const std::string& names, std::vector<std::string>& values, const char* kind,
                const std::string& sentence);
/// An argument that takes any number of words.
void add_words(CLI::App& app, const std::string& name, std::vector<std::string>& values, const char* kind,
               const std::string& sentence);

/// Refuses a name that is given twice, which would only be done twice.
void refuse_repeated(std::string_view what, const std::vector<std::string>& names);
/// Refuses `option`, which decides the value `key`, beside a --set that decides it too.
void refuse_set_too(const std::string& option, const std::string& key, const std::vector<std::string>& overrides);
/// Says of a mistake in an override of one of `keys` that it is in --vary, where it was made.
[[noreturn]] void rethrow_varied(const OverrideError& error, const std::vector<std::string>& keys);

/// --repeat: how often each run is made, with small perturbations after the first time.
void add_repeat_option(CLI::App& app, std::string& repeat);
/// The same of studies, which may say it themselves.
void add_study_repeat_option(CLI::App& app, std::string& repeat);
/// What that comes to: nothing leaves it to the study; --quick is once, unless a number was given.
std::optional<std::uint32_t> read_study_repeat(const std::string& repeat, bool quick);
/// The number of --repeat. Refuses several beside a --set of the draw, which they decide.
std::uint32_t read_repeat(const std::string& repeat, const std::vector<std::string>& overrides);

/// Refuses a --vary of the draw beside several repeats.
void refuse_varied_draw(const std::string& key, const std::string& repeat);

void add_input_option(CLI::App& app, std::string& input);
void add_experiment_options(CLI::App& app, ExperimentArguments& arguments);
void add_set_option(CLI::App& app, std::vector<std::string>& overrides);
/// --instances: how a GPU is cut, as an override of `mig.instances`.
void add_instances_option(CLI::App& app, std::string& instances);
std::vector<std::string> with_instances(const std::vector<std::string>& overrides, const std::string& instances);

}  // namespace nearfar
