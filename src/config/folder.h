// The folders of YAML files: systems/, studies/, claims/ and calibrations/. Those of the user are searched before those
// that come with the program.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nearfar {

/// A YAML file that was found by its name, without folder and extension.
struct NamedFile {
  std::filesystem::path path;
  std::string shown;  ///< the same wherever the program is started: "systems/base.yaml"
};

/// Names the program `nearfar` where this process is another, as Python's is for the Python package: the folders are
/// looked for beside and above it.
void set_program_file(std::filesystem::path path);

/// Whether this names a file, by a path, and not something in one of the folders.
bool is_yaml_path(std::string_view name);

/// The file of this name in one folder: `name.yaml`, else `name.yml`.
std::optional<NamedFile> find_in(const std::filesystem::path& folder, const std::string& name);

/// Names of the YAML files in a folder, without their extension, sorted, each once.
std::vector<std::string> names_in(const std::filesystem::path& folder);

/// The folders of one kind, in the order in which they are searched. If the environment's variable is set, they are
/// those that it names, with `:` between them; an empty name there stands for the usual ones: the folder `name` here,
/// the one in the user's configuration (`$XDG_CONFIG_HOME/nearfar`, else `~/.config/nearfar`), and the one that comes
/// with the program, beside or above it. A file hides those of its name in later folders.
class SearchPath {
 public:
  /// An InputError where the variable names no folder, or where there is none at all.
  SearchPath(const std::string& name, const char* variable);

  const std::vector<std::filesystem::path>& folders() const { return folders_; }
  /// The first one, into which new files are written.
  const std::filesystem::path& first() const { return folders_.front(); }
  std::vector<std::string> names() const;
  std::optional<NamedFile> find(const std::string& name) const;
  /// For messages: the folders with commas between.
  std::string text() const;

 private:
  std::vector<std::filesystem::path> folders_;
};

}  // namespace nearfar
