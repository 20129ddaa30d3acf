// `nearfar explore`: a page on this machine to choose runs, watch them, and compare what they gave.
#include <fmt/format.h>
#include <poll.h>

#include <cstdio>
#include <memory>

#include "cli/arguments.h"
#include "cli/batch.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "config/words.h"
#include "explore/explorer.h"
#include "explore/server.h"
#include "study/stop_signals.h"

namespace nearfar {
namespace {

constexpr std::uint64_t kLastPort = 65535;

struct ExploreArguments {
  BatchArguments batch;
  std::string port = "8642";
};

void perform_explore(const ExploreArguments& arguments) {
  const unsigned jobs = jobs_of(arguments.batch);
  const auto port = static_cast<std::uint16_t>(parse_whole("--port", arguments.port, 0, kLastPort));
  const StopSignals signals;
  Explorer explorer({arguments.batch.database, jobs});
  const ExploreServer server(explorer, port);
  write_stdout(fmt::format("{}\n", server.address()));
  std::fflush(stdout);
  if (!arguments.batch.quiet) {
    fmt::print(stderr, "nearfar: open this address in a browser on this machine; Ctrl-C ends it. Results go to `{}`.\n",
               arguments.batch.database);
  }
  struct pollfd waiting {
    signals.descriptor(), POLLIN, 0
  };
  while (!signals.arrived()) poll(&waiting, 1, -1);
}

}  // namespace

Command add_explore_command(CLI::App& program) {
  auto arguments = std::make_shared<ExploreArguments>();
  CLI::App& app = add_command(program, "explore", "A page in the browser to choose runs, watch and compare them");
  add_batch_options(app, arguments->batch);
  add_value(app, "--port", arguments->port, value_kind::kNumber, "The port of 127.0.0.1; 0 is any that is free");
  return {&app, [arguments] { perform_explore(*arguments); }};
}

}  // namespace nearfar
