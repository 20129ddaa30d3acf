// Which mutant of the simulator a test program runs. Only the copy of the sources that the mutation test builds
// includes this; NEARFAR_MUTANT names the mutant, and without it the copy behaves as the original does.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <type_traits>

namespace nearfar::mutants {

using Id = std::uint16_t;

/// The number of a name (FNV-1a, folded): run.py makes sure that no two mutants have the same.
constexpr Id id_of(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return static_cast<Id>(hash ^ hash >> 16);
}

/// The chosen mutant, and which mutated places the program has come by. These are written to the file that
/// NEARFAR_MUTANTS_REACHED names, one number a line, when the program ends.
class Choice {
 public:
  Choice() : any_(std::getenv("NEARFAR_MUTANT") != nullptr), id_(any_ ? id_of(std::getenv("NEARFAR_MUTANT")) : Id{0}) {}
  Choice(const Choice&) = delete;
  Choice& operator=(const Choice&) = delete;
  ~Choice() {
    const char* path = std::getenv("NEARFAR_MUTANTS_REACHED");
    std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "w");
    if (file == nullptr) return;
    for (std::size_t id = 0; id < reached_.size(); ++id) {
      if (reached_[id].load(std::memory_order_relaxed)) std::fprintf(file, "%zu\n", id);
    }
    std::fclose(file);
  }

  bool is(Id id) {
    reached_[id].store(true, std::memory_order_relaxed);
    return any_ && id == id_;
  }

 private:
  bool any_;
  Id id_;
  std::array<std::atomic<bool>, 65536> reached_{};
};

inline Choice choice;

}  // namespace nearfar::mutants

/// Whether the mutant of this name is the chosen one.
#define NEARFAR_MUTANT(name)      \
  (::nearfar::mutants::choice.is( \
      std::integral_constant<::nearfar::mutants::Id, ::nearfar::mutants::id_of(name)>::value))
