// `nearfar reference`: the reference of parameters, statistics, designs, systems and workloads as pages in Markdown, of
// which the documentation site is made.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "cli/reference_pages.h"
#include "config/error.h"

namespace nearfar {
namespace {

namespace fs = std::filesystem;

struct ReferenceArguments {
  std::string folder;
};

void perform_reference(const ReferenceArguments& arguments) {
  if (arguments.folder.empty()) throw InputError("`nearfar reference` needs a folder: -o FOLDER.");
  std::error_code error;
  fs::create_directories(arguments.folder, error);
  if (error) {
    throw InputError(fmt::format("The folder `{}` cannot be made: {}.", arguments.folder, error.message()));
  }
  const std::vector<ReferencePage> pages = reference_pages();
  for (const ReferencePage& page : pages)
    OutputFile((fs::path(arguments.folder) / page.name).string()).write(page.text);
  fmt::print(stderr, "nearfar: wrote {} pages to {}\n", pages.size(), arguments.folder);
}

}  // namespace

Command add_reference_command(CLI::App& program) {
  auto arguments = std::make_shared<ReferenceArguments>();
  CLI::App& app = add_command(program, "reference",
                              "Write everything there is as pages in Markdown: parameters, statistics, designs, …");
  add_value(app, "-o,--output", arguments->folder, value_kind::kFolder, "The folder, which is made where it is not");
  return {&app, [arguments] { perform_reference(*arguments); }};
}

}  // namespace nearfar
