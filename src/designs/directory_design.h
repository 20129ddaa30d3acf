// What the designs of coherence directories have in common: where they fit, and how their storage is counted.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include "coherence/block_directory.h"
#include "config/plug_in.h"
#include "config/system_spec.h"
#include "designs/design.h"

namespace nearfar {

/// A design of the seam "directory". Any translation will do, but L2 caches must hold lines of other GPUs, and
/// directories keep them coherent.
inline Design directory_design(std::string name, std::string sentence, std::string readme) {
  using enum TranslationKind;
  return {.name = std::move(name),
          .sentence = std::move(sentence),
          .seams = {"directory"},
          .systems = {Ideal, Mmu, Ats, Svm},
          .needs = {"remote_cache=l1l2", "coherence=directory"},
          .system = "rec-4gpu",
          .readme = std::move(readme)};
}

inline std::string block_entries(std::uint64_t entries, const SystemSpec& system) {
  return fmt::format("{} entries × ({} tag + {} sharers + 1 valid) bits", entries, BlockDirectory::kTagBits,
                     system.gpus - 1);
}

/// A directory in each GPU that takes the place of the baseline's, which has `directory.entries` of one line.
inline StorageItem directory_storage(const SystemSpec& system, std::uint64_t bits, std::string formula) {
  return {.structure = "directory",
          .per_gpu = true,
          .bits = bits,
          .formula = std::move(formula),
          .baseline_bits = system.directory.entries * BlockDirectory::entry_bits(system.gpus),
          .baseline_formula = block_entries(system.directory.entries, system)};
}

/// One whose entries have a tag and a vector of sharers each.
inline StorageItem block_directory_storage(const SystemSpec& system) {
  const std::uint64_t entries = system.directory.all_entries();
  return directory_storage(system, entries * BlockDirectory::entry_bits(system.gpus), block_entries(entries, system));
}

}  // namespace nearfar
