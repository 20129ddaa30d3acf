// `nearfar record-opencl`: an OpenCL program, run without a GPU, as a trace.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/output_file.h"
#include "cli/trace_output.h"
#include "config/error.h"
#include "config/nearest.h"
#include "config/words.h"
#include "trace/opencl/session.h"

namespace nearfar {
namespace {

struct RecordOpenclArguments {
  std::vector<std::string> words;
  std::string output;
  std::string host = "copies";
  bool any_exit = false;
};

opencl::HostEvents parse_host_events(const std::string& text) {
  const std::vector<std::string> names = {"copies", "accesses", "none"};
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) {
    throw InputError(
        fmt::format("--host is one of {}, not `{}`.{}", join(names, ", "), text, did_you_mean(text, names)));
  }
  return static_cast<opencl::HostEvents>(found - names.begin());
}

void perform_record_opencl(const RecordOpenclArguments& arguments) {
  if (arguments.words.empty()) {
    throw InputError(
        "`nearfar record-opencl` needs a program, as in `nearfar record-opencl -o f.nft -- ./program arguments`.");
  }
  if (arguments.output.empty()) throw InputError("`nearfar record-opencl` needs -o FILE, where the trace goes.");
  opencl::SessionOptions options;
  options.words = arguments.words;
  options.host_events = parse_host_events(arguments.host);
  options.any_exit = arguments.any_exit;
  const opencl::Oclgrind oclgrind = opencl::find_oclgrind();
  check_trace_output(arguments.output);
  TraceHeader header;
  header.source = "opencl";
  header.page = kPageBytes;
  header.parameters = {{"command", join(arguments.words, " ")}, {"host", arguments.host}};
  TraceOutput output(arguments.output);
  const opencl::RecordingNotes notes = opencl::record_program(options, oclgrind, header, output);
  output.commit();
  write_stdout(written_text(arguments.output, *TraceFile::open(arguments.output)));
  if (notes.outside != 0) {
    fmt::print(stderr, "nearfar: {} accesses of kernels lay in no buffer, and were left out.\n",
               grouped(notes.outside));
  }
}

}  // namespace

Command add_record_opencl_command(CLI::App& program) {
  auto arguments = std::make_shared<RecordOpenclArguments>();
  CLI::App& app =
      add_command(program, "record-opencl", "Run an OpenCL program without a GPU, and record it as a trace");
  using namespace value_kind;
  add_value(app, "-o,--output", arguments->output, kFile, "The trace");
  add_value(app, "--host", arguments->host, kHostEvents,
            "What becomes of transfers between host and device: copies, accesses (the host reads and writes buffers "
            "itself), or none");
  add_flag(app, "--any-exit", arguments->any_exit, "Record a program too that ends with another exit code than 0");
  add_words(app, "PROGRAM", arguments->words, kWords, "Behind --, the program and its arguments");
  return {&app, [arguments] { perform_record_opencl(*arguments); }};
}

}  // namespace nearfar
