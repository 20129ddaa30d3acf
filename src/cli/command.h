// The commands of the program: each adds itself to the command line and knows how to carry itself out.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace nearfar {

struct Command {
  CLI::App* app;
  std::function<void()> perform;
};

Command add_run_command(CLI::App& program);
Command add_compare_command(CLI::App& program);
Command add_trace_command(CLI::App& program);
/// Part of the command `trace`, with the options of `run`.
Command add_replay_command(CLI::App& trace);
Command add_record_opencl_command(CLI::App& program);
Command add_cost_command(CLI::App& program);
Command add_bench_links_command(CLI::App& program);
Command add_characterize_command(CLI::App& program);
Command add_functional_command(CLI::App& program);
Command add_study_command(CLI::App& program);
Command add_calibrate_command(CLI::App& program);
Command add_reproduce_command(CLI::App& program);
Command add_report_command(CLI::App& program);
Command add_explore_command(CLI::App& program);
Command add_compose_command(CLI::App& program);
Command add_tune_command(CLI::App& program);
Command add_export_command(CLI::App& program);
Command add_explain_command(CLI::App& program);
Command add_list_command(CLI::App& program);
Command add_reference_command(CLI::App& program);
Command add_completion_command(CLI::App& program);

}  // namespace nearfar
