// Ctrl-C and termination as something to ask about, for as long as this lives: the work ends in good order.
#pragma once

#include <csignal>

#include <array>

namespace nearfar {

class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  bool arrived() const;
  /// Readable once one has arrived.
  int descriptor() const;

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace nearfar
