#include "config/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "config/error.h"

namespace nearfar {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> kExtensions = {".yaml", ".yml"};
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

std::optional<fs::path> in_configuration(const std::string& name) {
  const char* configuration = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  std::error_code error;
  fs::path folder;
  if (configuration != nullptr && *configuration != '\0') {
    folder = fs::path(configuration) / "nearfar" / name;
  } else if (home != nullptr && *home != '\0') {
    folder = fs::path(home) / ".config" / "nearfar" / name;
  }
  return !folder.empty() && fs::is_directory(folder, error) ? std::optional(folder) : std::nullopt;
}

/// Adds a folder unless it is there already, by whatever path.
void add(std::vector<fs::path>& folders, fs::path folder) {
  const auto same = [&](const fs::path& other) {
    std::error_code error;
    return fs::equivalent(folder, other, error);
  };
  if (std::ranges::none_of(folders, same)) folders.push_back(std::move(folder));
}

void add_usual(std::vector<fs::path>& folders, const std::string& name) {
  std::error_code error;
  if (fs::is_directory(name, error)) add(folders, name);
  if (auto folder = in_configuration(name)) add(folders, std::move(*folder));
  if (auto folder = above_program(name)) add(folders, std::move(*folder));
}

}  // namespace

void set_program_file(fs::path path) { named_program() = std::move(path); }

bool is_yaml_path(std::string_view name) {
  return std::ranges::any_of(kExtensions, [&](std::string_view extension) { return name.ends_with(extension); });
}

std::optional<NamedFile> find_in(const fs::path& folder, const std::string& name) {
  for (const std::string_view extension : kExtensions) {
    const std::string file = name + std::string(extension);
    std::error_code error;
    if (name.empty() || name.find('/') != std::string::npos || !fs::exists(folder / file, error)) continue;
    const fs::path shown_folder = folder.has_filename() ? folder.filename() : folder.parent_path().filename();
    return NamedFile{folder / file, (shown_folder / file).string()};
  }
  return std::nullopt;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (std::ranges::find(kExtensions, entry->path().extension().string()) != kExtensions.end()) {
      names.push_back(entry->path().stem().string());
    }
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

SearchPath::SearchPath(const std::string& name, const char* variable) {
  const char* given = std::getenv(variable);
  std::string_view rest = given == nullptr ? "" : given;
  for (bool more = true; more;) {
    const std::size_t colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    std::error_code error;
    if (folder.empty()) {
      add_usual(folders_, name);
    } else if (fs::is_directory(folder, error)) {
      add(folders_, folder);
    } else {
      throw InputError(fmt::format("{} names `{}`, which is not a directory.", variable, folder));
    }
    more = colon != std::string_view::npos;
    if (more) rest.remove_prefix(colon + 1);
  }
  if (!folders_.empty()) return;
  throw InputError(fmt::format("there is no folder `{}` here or above the program; name one in {}.", name, variable));
}

std::vector<std::string> SearchPath::names() const {
  std::vector<std::string> names;
  for (const fs::path& folder : folders_) {
    const std::vector<std::string> there = names_in(folder);
    names.insert(names.end(), there.begin(), there.end());
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::optional<NamedFile> SearchPath::find(const std::string& name) const {
  for (const fs::path& folder : folders_) {
    if (auto file = find_in(folder, name)) return file;
  }
  return std::nullopt;
}

std::string SearchPath::text() const {
  std::string text;
  for (const fs::path& folder : folders_) text += (text.empty() ? "" : ", ") + folder.string();
  return text;
}

}  // namespace nearfar
