// A run by the words that name it: what a study expands to and what the command of a child process is made of. A
// planned run is one whose configuration was read, so that its key is known and its cost can be guessed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/experiment.h"

namespace nearfar {

struct NamedRun {
  std::string workload;  ///< "MT", "FIR+KM" or "W1"
  SizeClass size = SizeClass::Medium;
  std::vector<std::string> parameters;  ///< as --param takes them
  std::string input;                    ///< as --input takes it; may be empty
  std::string system;
  std::string designs = "baseline";    ///< as --design takes them
  std::vector<std::string> overrides;  ///< as --set takes them
  std::uint64_t seed = 1;
  std::optional<std::uint32_t> draw;  ///< of a run that is repeated: its perturb.draw, over what the system says

  friend auto operator<=>(const NamedRun&, const NamedRun&) = default;
};

/// The most repeats of a run that may be asked for.
inline constexpr std::uint32_t kMostRepeats = 1000;
/// What decides the draw of a run.
inline constexpr const char* kDrawKey = "perturb.draw";
/// "perturb.draw=2".
std::string draw_override(std::uint32_t draw);

/// A machine once for each repeat, with draws 0, 1, …; alone, it is as it is.
std::vector<NamedSystem> repeated_machine(const std::string& system, const std::string& designs,
                                          const std::vector<std::string>& overrides, std::uint32_t repeats);

/// The words after `nearfar` that carry it out.
std::vector<std::string> run_words(const NamedRun& run);

/// What a person calls it: "MT small ats-4gpu least-tlb gpus=2"; draws above 0 are named too.
std::string run_label(const NamedRun& run);

/// The names in `designs` that no design of this version has.
std::vector<std::string> missing_designs(const std::string& designs);

/// Makes what runs read from a file, for the mistakes in it; those without an input are passed over.
void check_inputs(const std::vector<NamedRun>& runs);

struct PlannedRun {
  NamedRun run;
  std::string key;             ///< of its result (run_key.h)
  std::string program;         ///< what runs, whatever the machine is: runs of one program take similar time and memory
  std::string machine;         ///< machine_key of the machine it runs on
  std::uint64_t accesses = 0;  ///< expected, about
  std::uint64_t footprint = 0;  ///< bytes of its buffers, about
};

/// Plans runs. Remembers systems and input files, so that thousands of runs on few machines are planned at once.
class Planner {
 public:
  /// Throws InputError when it can never be run: an unknown name, an impossible value, a system that does not fit.
  PlannedRun plan(const NamedRun& run);

 private:
  struct Machine {
    NamedSystem system;
    std::string configuration;  ///< one line for each parameter
    std::string key;            ///< machine_key
  };
  const Machine& machine(const NamedRun& run);
  const std::string& file_hash(const std::string& path);

  std::map<std::string, Machine> machines_;
  std::map<std::string, std::string> hashes_;
};

}  // namespace nearfar
