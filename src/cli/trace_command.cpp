// `nearfar trace`: programs as files. Records a workload, shows what a trace holds, runs one, and translates from and
// to other forms.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/characterization_text.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/trace_output.h"
#include "config/error.h"
#include "config/nearest.h"
#include "config/words.h"
#include "trace/accel_sim.h"
#include "trace/csv_import.h"
#include "trace/record.h"
#include "trace/text_form.h"
#include "trace/trace_workload.h"

namespace nearfar {
namespace {

struct TraceRecordArguments {
  std::string workload;
  std::string size = "medium";
  std::vector<std::string> parameters;
  std::string seed = "1";
  std::string input;
  std::string lanes = "64";
  std::string output;
};

struct TraceInfoArguments {
  std::string file;
  std::string gpus = "4";
  bool brief = false;
};

struct TraceExportArguments {
  std::string file;
  std::string output = "-";
};

struct TraceImportArguments {
  std::string file;
  std::string format;
  std::string lanes = "64";
  bool without_copies = false;
  std::string output;
};

class StdoutSink final : public TraceSink {
 public:
  void write(std::span<const std::uint8_t> bytes) override {
    write_stdout({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
};

double as_real(std::uint64_t value) { return static_cast<double>(value); }

void need_word(const std::string& value, const std::string& what) {
  if (value.empty()) throw InputError(what);
}

TraceHeader trace_header_of(const Application& application, const Experiment& experiment, std::uint32_t lanes) {
  TraceHeader header;
  header.source = application.name;
  header.lanes = lanes;
  header.page = kPageBytes;
  header.seed = experiment.seed;
  header.parameters.emplace_back("size", size_name(experiment.size));
  for (const ParameterSetting& setting : application.parameters) {
    header.parameters.emplace_back(setting.name, fmt::format("{}", setting.value));
  }
  if (!application.input.empty()) header.parameters.emplace_back("input", application.input);
  return header;
}

void perform_record(const TraceRecordArguments& arguments) {
  need_word(arguments.workload, "`nearfar trace record` needs a WORKLOAD, as in `nearfar trace record MT -o mt.nft`.");
  need_word(arguments.output, "`nearfar trace record` needs -o FILE, where the trace goes.");
  Experiment experiment;
  experiment.size = parse_size(arguments.size);
  experiment.parameters = arguments.parameters;
  experiment.seed = parse_whole("--seed", arguments.seed, 0, ~std::uint64_t{0});
  experiment.input = arguments.input;
  if (arguments.lanes != "32" && arguments.lanes != "64") {
    throw InputError(fmt::format("--lanes is 32 or 64, not `{}`.", arguments.lanes));
  }
  if (plan_applications(arguments.workload, experiment, {arguments.workload}).size() > 1) {
    throw InputError(fmt::format("A trace holds one workload; {} is several.", arguments.workload));
  }
  check_trace_output(arguments.output);
  const auto applications = make_applications(arguments.workload, experiment, {arguments.workload});
  TraceOutput output(arguments.output);
  {
    ProgressLine line(arguments.workload, Terminal::of(STDERR_FILENO));
    const std::uint32_t lanes = arguments.lanes == "32" ? 32 : 64;
    record_workload(*applications.front().workload, trace_header_of(applications.front(), experiment, lanes), output,
                    [&](std::uint64_t done, std::uint64_t all) {
                      Progress progress;
                      progress.groups_done = done;
                      progress.groups_total = all;
                      line.update(progress);
                    });
  }
  output.commit();
  write_stdout(written_text(arguments.output, *TraceFile::open(arguments.output)));
}

std::string about_trace(const TraceFile& file, const Terminal& terminal) {
  const TraceHeader& header = file.header();
  const TraceProgram& program = file.program();
  std::vector<std::string> parameters;
  for (const auto& [name, value] : header.parameters) parameters.push_back(fmt::format("{}={}", name, value));
  std::uint64_t plain = 0;
  for (const TraceFrame& frame : file.frames()) plain += frame.plain;
  const auto listed = std::ranges::count(program.launches, Split::Listed, &Launch::split);
  Table table({{""}, {""}, {"", Align::Left, Tint::Dim}}, 2);
  table.row({"source", header.source, join(parameters, " ")});
  table.row({"format", fmt::format("version {}", kTraceVersion),
             fmt::format("wavefronts of {} lanes; recorded with lines of {} B, pages of {}, seed {}", header.lanes,
                         header.line, size_text(as_real(header.page)), header.seed)});
  table.row({"times", header.times ? "yes" : "no", header.times ? "--timing recorded goes by them" : ""});
  table.row({"GPUs", program.gpus == 0 ? "any number" : grouped(program.gpus),
             listed == 0 ? "" : fmt::format("{} launches list where each workgroup runs", listed)});
  table.row(
      {"buffers", grouped(program.buffers.size()),
       program.homes.empty() ? "" : fmt::format("{} runs of pages have homes of their own", program.homes.size())});
  table.row({"steps", grouped(program.steps.size()), fmt::format("{} launches", grouped(program.launches.size()))});
  table.row({"wavefronts", grouped(file.first_wavefronts().back()),
             fmt::format("{} instructions", grouped(file.counts().instructions))});
  table.row(
      {"accesses", grouped(file.counts().accesses),
       fmt::format("{} bytes each in the file",
                   fixed(as_real(file.bytes()) / as_real(std::max<std::uint64_t>(file.counts().accesses, 1)), 2))});
  table.row({"file", size_text(as_real(file.bytes())),
             fmt::format("{} frames, {} decompressed", grouped(file.frames().size()), size_text(as_real(plain)))});
  return table.text(terminal);
}

void perform_info(const TraceInfoArguments& arguments) {
  need_word(arguments.file, "`nearfar trace info` needs the FILE of a trace.");
  const auto gpus = static_cast<unsigned>(parse_whole("--gpus", arguments.gpus, 1, kMaxGpus));
  const Terminal terminal = Terminal::of(STDOUT_FILENO);
  const auto file = TraceFile::open(arguments.file);
  std::string text = terminal.paint(Tint::Bold, arguments.file) + "\n\n" + about_trace(*file, terminal);
  if (!arguments.brief && !file->program().buffers.empty() && file->first_wavefronts().back() != 0) {
    const TraceWorkload workload(file);
    CharacterizeSpec spec;
    spec.gpus = gpus;
    spec.lanes = file->header().lanes;
    text += "\n" + characterization_text(characterize(workload, spec), terminal);
  }
  write_stdout(text);
}

void perform_export(const TraceExportArguments& arguments) {
  need_word(arguments.file, "`nearfar trace export` needs the FILE of a trace.");
  const auto file = TraceFile::open(arguments.file);
  if (arguments.output == "-") {
    StdoutSink sink;
    export_text(*file, sink);
    return;
  }
  check_trace_output(arguments.output);
  TraceOutput output(arguments.output);
  export_text(*file, output);
  output.commit();
}

void import_text_file(const std::string& path, TraceSink& output) {
  std::ifstream text(path);
  if (!text) throw InputError(fmt::format("`{}` cannot be read.", path));
  import_text(text, path, output);
}

void perform_import(const TraceImportArguments& arguments) {
  need_word(arguments.file, "`nearfar trace import` needs a FILE to read.");
  const std::vector<std::string> formats = {"accel-sim", "csv", "text"};
  if (std::ranges::find(formats, arguments.format) == formats.end()) {
    throw InputError(arguments.format.empty()
                         ? fmt::format("`nearfar trace import` needs --format: {}.", join(formats, ", "))
                         : fmt::format("--format is one of {}, not `{}`.{}", join(formats, ", "), arguments.format,
                                       did_you_mean(arguments.format, formats)));
  }
  if (arguments.lanes != "32" && arguments.lanes != "64") {
    throw InputError(fmt::format("--lanes is 32 or 64, not `{}`.", arguments.lanes));
  }
  need_word(arguments.output, "`nearfar trace import` needs -o FILE, where the trace goes.");
  check_trace_output(arguments.output);
  TraceOutput output(arguments.output);
  if (arguments.format == "text") {
    import_text_file(arguments.file, output);
  } else if (arguments.format == "accel-sim") {
    import_accel_sim(arguments.file, {.copies = !arguments.without_copies}, output);
  } else {
    import_csv(arguments.file, {.lanes = arguments.lanes == "32" ? 32U : 64U}, output);
  }
  output.commit();
  write_stdout(written_text(arguments.output, *TraceFile::open(arguments.output)));
}

Command add_trace_record(CLI::App& trace) {
  auto arguments = std::make_shared<TraceRecordArguments>();
  CLI::App& app = add_command(trace, "record", "Record a workload as a trace, without a run");
  using namespace value_kind;
  add_value(app, "WORKLOAD", arguments->workload, kWorkload, "A workload");
  add_value(app, "-o,--output", arguments->output, kFile, "The trace");
  add_value(app, "--size", arguments->size, kSize, "Size of the input: small, medium or paper");
  add_values(app, "--param", arguments->parameters, kParameter,
             "Set one parameter of the workload, over its size; may be repeated");
  add_value(app, "--seed", arguments->seed, kNumber, "Seed of the inputs that are drawn at random");
  add_input_option(app, arguments->input);
  add_value(app, "--lanes", arguments->lanes, kNumber,
            "Lanes of a wavefront, as gpu.wavefront of the system: 32 or 64");
  return {&app, [arguments] { perform_record(*arguments); }};
}

Command add_trace_info(CLI::App& trace) {
  auto arguments = std::make_shared<TraceInfoArguments>();
  CLI::App& app = add_command(trace, "info", "Show what a trace holds and what it does to memory");
  add_value(app, "FILE", arguments->file, value_kind::kFile, "The trace");
  add_value(app, "--gpus", arguments->gpus, value_kind::kNumber, "GPUs the workgroups are split over");
  add_flag(app, "--brief", arguments->brief, "Only what the trace says of itself, without reading its streams");
  return {&app, [arguments] { perform_info(*arguments); }};
}

Command add_trace_export(CLI::App& trace) {
  auto arguments = std::make_shared<TraceExportArguments>();
  CLI::App& app = add_command(trace, "export", "Write a trace as text that a person can read");
  add_value(app, "FILE", arguments->file, value_kind::kFile, "The trace");
  add_value(app, "-o,--output", arguments->output, value_kind::kFile, "The text; - is standard output");
  return {&app, [arguments] { perform_export(*arguments); }};
}

Command add_trace_import(CLI::App& trace) {
  auto arguments = std::make_shared<TraceImportArguments>();
  CLI::App& app = add_command(trace, "import", "Make a trace from another form");
  using namespace value_kind;
  add_value(app, "FILE", arguments->file, kFile, "The list of kernels or a kernel (accel-sim), a table (csv), or text");
  add_value(app, "--format", arguments->format, kTraceFormat, "What it is: accel-sim, csv or text");
  add_value(app, "-o,--output", arguments->output, kFile, "The trace");
  add_value(app, "--lanes", arguments->lanes, kNumber, "Of csv: lanes of a wavefront, 32 or 64");
  add_flag(app, "--without-copies", arguments->without_copies, "Of accel-sim: leave out copies between host and GPU");
  return {&app, [arguments] { perform_import(*arguments); }};
}

}  // namespace

Command add_trace_command(CLI::App& program) {
  CLI::App& app = add_command(program, "trace", "Record, show, run, import and export traces");
  const std::vector<Command> parts = {add_trace_record(app), add_trace_info(app), add_replay_command(app),
                                      add_trace_import(app), add_trace_export(app)};
  return {&app, [parts] {
            for (const Command& part : parts) {
              if (was_chosen(*part.app)) return part.perform();
            }
            throw InputError("`nearfar trace` needs one of: record, info, replay, import, export.");
          }};
}

}  // namespace nearfar
