#include "config/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include "config/error.h"

namespace nearfar {
namespace {

namespace fs = std::filesystem;

/// Empty: this process's own program.
fs::path& named_program() {
  static fs::path path;
  return path;
}

std::optional<fs::path> above_program(const std::string& name) {
  std::error_code error;
  const fs::path program = named_program().empty() ? fs::read_symlink("/proc/self/exe", error) : named_program();
  for (fs::path at = program.parent_path(); !error; at = at.parent_path()) {
    for (const fs::path& folder : {at / name, at / "share/nearfar" / name}) {
      if (fs::is_directory(folder, error)) return folder;
    }
    if (at == at.parent_path()) break;
    error.clear();
  }
  return std::nullopt;
}

}  // namespace

void set_program_file(fs::path path) { named_program() = std::move(path); }

fs::path find_folder(const std::string& name, const char* variable) {
  std::error_code error;
  if (const char* given = std::getenv(variable); given != nullptr && *given != '\0') {
    if (fs::is_directory(given, error)) return given;
    throw InputError(fmt::format("{} names `{}`, which is not a directory.", variable, given));
  }
  if (fs::is_directory(name, error)) return name;
  if (const auto above = above_program(name)) return *above;
  throw InputError(fmt::format("there is no folder `{}` here or above the program; name one in {}.", name, variable));
}

std::string shown_in_folder(const fs::path& folder, const std::string& file) {
  const fs::path name = folder.has_filename() ? folder.filename() : folder.parent_path().filename();
  return (name / file).string();
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == kYamlExtension) names.push_back(entry->path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace nearfar
