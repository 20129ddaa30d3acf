// The way of the plugin's messages to the recorder: one socket for the whole program, whatever contexts it has.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>

#include "trace/bytes.h"
#include "trace/opencl/messages.h"

namespace nearfar::opencl {

class Channel {
 public:
  /// The program's only one. It stays until the process has ended.
  static Channel& of_process();

  /// Held by whoever sends, and from the beginning of a kernel to its end.
  std::mutex& mutex() { return mutex_; }
  /// A number for a new context.
  std::uint64_t next_context() { return contexts_++; }

  void send(Message message, const ByteVector& bytes);
  /// Says that something cannot be recorded, and ends the program.
  [[noreturn]] void refuse(std::string_view why);
  void flush();

 private:
  Channel();

  std::mutex mutex_;
  std::uint64_t contexts_ = 0;
  int socket_ = -1;
  int process_ = 0;
  ByteVector waiting_;
};

}  // namespace nearfar::opencl
