// A folder `systems` of its own for a test: NEARFAR_SYSTEMS names it while the object lives.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/error.h"
#include "machine/system_file.h"

namespace nearfar {

class TempSystems {
 public:
  TempSystems() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nearfar-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    std::filesystem::create_directory(directory());
    if (const char* before = std::getenv("NEARFAR_SYSTEMS")) before_ = before;
    setenv("NEARFAR_SYSTEMS", directory().c_str(), 1);
  }
  TempSystems(const TempSystems&) = delete;
  TempSystems& operator=(const TempSystems&) = delete;
  ~TempSystems() {
    if (before_) {
      setenv("NEARFAR_SYSTEMS", before_->c_str(), 1);
    } else {
      unsetenv("NEARFAR_SYSTEMS");
    }
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  std::filesystem::path root() const { return root_; }
  std::filesystem::path directory() const { return root_ / "systems"; }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream(directory() / (name + ".yaml"), std::ios::binary) << text;
  }

 private:
  std::filesystem::path root_;
  std::optional<std::string> before_;
};

/// The message that loading fails with, or "" when it does not fail.
inline std::string failure(const std::string& name, const std::vector<std::string>& overrides = {}) {
  try {
    load_system(name, overrides);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

/// One parameter of a loaded system.
inline EffectiveParameter parameter(const LoadedSystem& system, std::string_view path) {
  for (const EffectiveParameter& p : system.parameters) {
    if (p.path == path) return p;
  }
  ADD_FAILURE() << "no parameter " << path;
  return {};
}

}  // namespace nearfar
