// Runs an OpenCL program under Oclgrind and records it, until it has ended.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/opencl/recorder.h"

namespace nearfar::opencl {

/// The pieces that are loaded into a recorded program.
struct Oclgrind {
  std::string plugin;      ///< nearfar_oclgrind.so
  std::string local_size;  ///< nearfar_local_size.so
  std::string runtime;     ///< Oclgrind's liboclgrind-rt.so
};

/// Those that were built and installed with this program. An InputError that says what to install where one is missing.
Oclgrind find_oclgrind();

struct SessionOptions {
  std::vector<std::string> words;  ///< the program and its arguments
  HostEvents host_events = HostEvents::Copies;
  bool any_exit = false;  ///< a program that ends with another exit code than 0 is recorded too
};

/// Throws an InputError where the program cannot be run, fails, or does what a trace cannot hold.
RecordingNotes record_program(const SessionOptions& options, const Oclgrind& oclgrind, const TraceHeader& header,
                              TraceSink& sink);

}  // namespace nearfar::opencl
