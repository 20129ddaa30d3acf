// The folders of YAML files that come with the program: systems/ and studies/.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace nearfar {

inline constexpr std::string_view kYamlExtension = ".yaml";

/// Names the program `nearfar` where this process is another, as Python's is for the Python package: the folders are
/// looked for beside and above it.
void set_program_file(std::filesystem::path path);

/// The folder `name`: the one that the environment's `variable` names, else the one here, else the one beside or above
/// the program. An InputError when there is none.
std::filesystem::path find_folder(const std::string& name, const char* variable);

/// A file in a folder, shown the same wherever the program is started: "systems/base.yaml".
std::string shown_in_folder(const std::filesystem::path& folder, const std::string& file);

/// Names of the YAML files in a folder, without their extension, sorted.
std::vector<std::string> names_in(const std::filesystem::path& folder);

}  // namespace nearfar
