// The host's core at work on a program's data between launches: it streams through a range of lines in order, with a
// bounded number of them under way at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/system_spec.h"
#include "host/host_line_port.h"
#include "memory/data_oracle.h"
#include "stats/stat.h"
#include "translation/process.h"

namespace nearfar {

struct HostAgentStats {
  std::uint64_t accesses = 0;
  std::uint64_t lines_read = 0;
  std::uint64_t lines_written = 0;
  std::uint64_t remote_lines = 0;
  std::uint64_t cycles = 0;
  std::uint64_t line_cycles = 0;

  void describe(StatVisitor& visitor);
};

class HostAgent {
 public:
  HostAgent(Partition& partition, const SystemSpec& spec, const std::vector<Process>& processes, DataWatch* watch);
  /// The way to lines, to be said before the first access.
  void set_port(HostLinePort& port) { port_ = &port; }

  /// Begins an access of an application, which has none under way.
  void start(std::size_t application, const HostAccess& access);
  /// Is told when an access of an application has ended, and when the first line of one has come.
  std::function<void(std::size_t)> on_done;
  std::function<void(std::size_t, const HostAccess&)> on_first_line;

  HostAgentStats& stats() { return stats_; }
  bool idle() const { return sweeping_ == 0 && (port_ == nullptr || port_->idle()); }
  std::string describe_waiting() const;

 private:
  /// What the core does for one application.
  struct Sweep {
    HostAccess access;
    std::uint64_t next = 0;  ///< address of the next line
    std::uint64_t end = 0;
    unsigned copy = 0;  ///< of a page that each GPU has one of: whose is next
    std::uint32_t under_way = 0;
    Cycle start = 0;
    bool first_ended = false;
  };
  struct LineEvent : Event {
    std::uint32_t application = 0;
    Cycle start = 0;
  };

  void issue_lines(std::size_t application);
  void issue_line(std::size_t application);
  void on_line(LineEvent* event);
  void note_access(std::size_t application, const Sweep& sweep) const;

  Partition& partition_;
  const std::vector<Process>& processes_;
  DataWatch* watch_;
  std::uint32_t outstanding_;
  std::uint64_t line_bytes_;
  HostLinePort* port_ = nullptr;
  HandlerId line_handler_;
  std::vector<Sweep> sweeps_;  ///< by application
  std::uint32_t sweeping_ = 0;
  HostAgentStats stats_;
};

}  // namespace nearfar
