// `nearfar characterize`: what a workload does to memory, from its streams alone, without a timing run.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "characterize/characterization.h"
#include "characterize/svg.h"
#include "cli/arguments.h"
#include "cli/bars.h"
#include "cli/characterization_text.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/output_file.h"
#include "cli/result_json.h"
#include "cli/table.h"
#include "config/error.h"
#include "config/words.h"
#include "plot/png.h"

namespace nearfar {
namespace {

constexpr std::uint64_t kMostResident = 1 << 16;

struct CharacterizeArguments {
  std::string workload;
  std::string size = "medium";
  std::vector<std::string> parameters;
  std::string seed = "1";
  std::string input;
  std::string gpus = "4";
  std::string resident = "256";
  std::string json, svg, png;
};

std::string parameters_text(const Application& application) {
  std::vector<std::string> parts;
  for (const ParameterSetting& setting : application.parameters) {
    parts.push_back(fmt::format("{}={}", setting.name, setting.value));
  }
  return join(parts, " ");
}

double real(std::uint64_t value) { return static_cast<double>(value); }

std::string totals(const Characterization& result, const Terminal& terminal) {
  const double instructions = real(result.vector_instructions());
  Table table({{""}, {"", Align::Right}, {"", Align::Left, Tint::Dim}}, 2);
  table.row({"wavefronts", grouped(result.wavefronts),
             fmt::format("in {} workgroups of {} launches", grouped(result.workgroups), grouped(result.launches))});
  table.row({"instructions", grouped(result.instructions),
             fmt::format("{} a wavefront", fixed(real(result.instructions) / real(result.wavefronts), 1))});
  table.row({"vector loads", grouped(result.loads), percent(real(result.loads), instructions)});
  table.row({"vector stores", grouped(result.stores), percent(real(result.stores), instructions)});
  if (result.atomics != 0) {
    table.row({"atomics", grouped(result.atomics), percent(real(result.atomics), instructions)});
  }
  table.row({"scalar loads", grouped(result.scalar_loads)});
  table.row({"barriers", grouped(result.barriers), "summed over wavefronts"});
  table.row(
      {"accesses", grouped(result.accesses()),
       fmt::format("lines; {} read, {} written", percent(real(result.touched.lines_read), real(result.accesses())),
                   percent(real(result.touched.lines_written), real(result.accesses())))});
  table.row({"footprint", size_text(real(result.bytes)),
             fmt::format("allocated; touched {} pages, {} lines", grouped(result.touched.pages),
                         grouped(result.touched.lines))});
  table.row({"lines", fixed(result.lines.mean(), 2),
             fmt::format("a vector memory instruction, from {} to {}", result.lines.least(), result.lines.most())});
  table.row({"pages", fixed(result.pages.mean(), 2),
             fmt::format("a vector memory instruction, from {} to {}", result.pages.least(), result.pages.most())});
  table.row({"active lanes", fixed(real(result.lanes_reading + result.lanes_writing) / instructions, 1),
             "a vector memory instruction"});
  return table.text(terminal);
}

std::string sharing(const Characterization& result, const Terminal& terminal) {
  std::uint64_t pages = 0;
  for (const std::uint64_t each : result.touched.pages_by) pages += each;
  Table table({{"pages by GPUs"}, {"pages", Align::Right}, {"share", Align::Right}, {"written", Align::Right}, {""}},
              2);
  for (std::size_t i = 0; i < result.touched.pages_by.size(); ++i) {
    const std::uint64_t count = result.touched.pages_by[i];
    table.row({std::to_string(i + 1), grouped(count), percent(real(count), real(pages)),
               percent(real(result.touched.written_pages_by[i]), real(count)),
               bar(real(count), real(std::max<std::uint64_t>(pages, 1)), kBarWidth)});
  }
  return table.text(terminal);
}

std::string buffers(const Characterization& result, const Terminal& terminal) {
  Table table({{"buffer"},
               {"size", Align::Right},
               {"pages touched", Align::Right},
               {"lines read", Align::Right},
               {"lines written", Align::Right},
               {"pages by 1, 2, … GPUs", Align::Left, Tint::Dim}},
              2);
  for (const BufferTouched& buffer : result.buffers) {
    std::vector<std::string> by;
    for (const std::uint64_t each : buffer.touched.pages_by) by.push_back(grouped(each));
    table.row({buffer.name, size_text(real(buffer.bytes)), grouped(buffer.touched.pages),
               grouped(buffer.touched.lines_read), grouped(buffer.touched.lines_written),
               buffer.private_copies ? "a copy on each" : join(by, " ")});
  }
  return table.text(terminal);
}

std::string reuse(const Characterization& result, const Terminal& terminal) {
  Table table({{"LRU holds", Align::Right}, {"page hits", Align::Right}, {""}, {"line hits", Align::Right}, {""}}, 2);
  for (unsigned k = 0; k < ReuseCurve::kCapacities; k += 2) {
    const double pages = result.page_reuse.hit_rate(k), lines = result.line_reuse.hit_rate(k);
    table.row({grouped(std::uint64_t{1} << k), percent(pages, 1), bar(pages, 1, kBarWidth / 2), percent(lines, 1),
               bar(lines, 1, kBarWidth / 2)});
  }
  return table.text(terminal);
}

std::string strides(const Characterization& result, const Terminal& terminal) {
  std::uint64_t all = result.strides.backward;
  for (const std::uint64_t each : result.strides.forward) all += each;
  Table table({{"lane to lane", Align::Right}, {"times", Align::Right}, {"share", Align::Right}, {""}}, 2);
  const auto row = [&](const std::string& label, std::uint64_t times) {
    if (times == 0) return;
    table.row({label, grouped(times), percent(real(times), real(all)), bar(real(times), real(all), kBarWidth)});
  };
  row("backwards", result.strides.backward);
  for (std::size_t i = 0; i < Strides::kForward; ++i) row(Strides::label(i), result.strides.forward[i]);
  return table.text(terminal);
}

void perform_characterize(const CharacterizeArguments& arguments) {
  if (arguments.workload.empty()) {
    throw InputError(
        "`nearfar characterize` needs a WORKLOAD, as in `nearfar characterize MT`; `nearfar list workloads` shows them "
        "all.");
  }
  std::optional<OutputFile> json, svg, png;
  if (!arguments.json.empty()) json.emplace(arguments.json);
  if (!arguments.svg.empty()) svg.emplace(arguments.svg);
  if (!arguments.png.empty()) {
    png.emplace(arguments.png);
    plot::need_png();
  }
  const bool to_stdout = check_outputs({&json, &svg, &png});
  Experiment experiment;
  experiment.size = parse_size(arguments.size);
  experiment.parameters = arguments.parameters;
  experiment.seed = parse_whole("--seed", arguments.seed, 0, ~std::uint64_t{0});
  experiment.input = arguments.input;
  CharacterizeSpec spec;
  spec.gpus = static_cast<unsigned>(parse_whole("--gpus", arguments.gpus, 1, kMaxGpus));
  spec.resident = static_cast<unsigned>(parse_whole("--resident", arguments.resident, 1, kMostResident));
  if (plan_applications(arguments.workload, experiment, {arguments.workload}).size() > 1) {
    throw InputError(fmt::format("`nearfar characterize` looks at one workload; {} is several.", arguments.workload));
  }
  const auto applications = make_applications(arguments.workload, experiment, {arguments.workload});
  const Application& application = applications.front();
  const Characterization result = characterize(*application.workload, spec);

  const auto info = std::ranges::find(catalog(), application.name, &WorkloadInfo::name);
  const std::string title = info == catalog().end()
                                ? application.name
                                : fmt::format("{}, {}, {}", application.name, info->title, size_name(experiment.size));
  const std::string subtitle =
      fmt::format("{}{}; {} GPU{}, {} wavefronts take turns on each, seed {}", parameters_text(application),
                  experiment.input.empty() ? "" : " input=" + experiment.input, spec.gpus, spec.gpus == 1 ? "" : "s",
                  spec.resident, experiment.seed);
  if (json) json->write(characterization_json(application, experiment, result));
  if (svg || png) {
    const std::string picture = characterization_svg(result, title, subtitle);
    if (svg) svg->write(picture);
    if (png) png->write(plot::png_of(picture));
  }
  if (to_stdout) return;
  const Terminal terminal = Terminal::of(STDOUT_FILENO);
  write_stdout(fmt::format("{}\n{}\n\n{}", terminal.paint(Tint::Bold, title), subtitle,
                           characterization_text(result, terminal)));
}

}  // namespace

std::string characterization_text(const Characterization& result, const Terminal& terminal) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", totals(result, terminal), sharing(result, terminal),
                     buffers(result, terminal), reuse(result, terminal), strides(result, terminal));
}

Command add_characterize_command(CLI::App& program) {
  auto arguments = std::make_shared<CharacterizeArguments>();
  CLI::App& app = add_command(program, "characterize", "Show what a workload does to memory, without a timing run");
  using namespace value_kind;
  add_value(app, "WORKLOAD", arguments->workload, kWorkload, "A workload");
  add_value(app, "--size", arguments->size, kSize, "Size of the input: small, medium or paper");
  add_values(app, "--param", arguments->parameters, kParameter,
             "Set one parameter of the workload, over its size; may be repeated");
  add_value(app, "--seed", arguments->seed, kNumber, "Seed of the inputs that are drawn at random");
  add_input_option(app, arguments->input);
  add_value(app, "--gpus", arguments->gpus, kNumber, "GPUs the workgroups are split over");
  add_value(app, "--resident", arguments->resident, kNumber,
            "Wavefronts that take turns on a GPU: the order in which reuse is measured");
  add_value(app, "--json", arguments->json, kFile, "Write everything as JSON; - is standard output");
  add_value(app, "--svg", arguments->svg, kFile, "Draw it as a page of plots; - is standard output");
  add_value(app, "--png", arguments->png, kFile, "The same as PNG; - is standard output");
  return {&app, [arguments] { perform_characterize(*arguments); }};
}

}  // namespace nearfar
