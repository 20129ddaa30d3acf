// A handler may only write to a pipe; the pipe is made once and kept.
#include "study/stop_signals.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace nearfar {
namespace {

std::array<int, 2> pipe_ends{-1, -1};
std::atomic<int> alive = 0;  // one may live within another: what arrived is for both

void note(int) {
  const int saved = errno;
  const char byte = 1;
  [[maybe_unused]] const ssize_t written = ::write(pipe_ends[1], &byte, 1);
  errno = saved;
}

}  // namespace

StopSignals::StopSignals() {
  if (pipe_ends[0] < 0 && pipe2(pipe_ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) pipe_ends = {-1, -1};
  char byte = 0;
  const bool first = alive++ == 0;
  while (first && ::read(pipe_ends[0], &byte, 1) == 1) {
  }
  struct sigaction action {};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
}

StopSignals::~StopSignals() {
  --alive;
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

bool StopSignals::arrived() const {
  struct pollfd waiting {
    descriptor(), POLLIN, 0
  };
  return poll(&waiting, 1, 0) > 0;
}

int StopSignals::descriptor() const { return pipe_ends[0]; }

}  // namespace nearfar
