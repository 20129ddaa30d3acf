#include "trace/oclgrind/channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace nearfar::opencl {
namespace {

constexpr std::size_t kEnoughToSend = std::size_t{1} << 16;
constexpr int kExitRefused = 2;

}  // namespace

Channel& Channel::of_process() {
  static Channel* const channel = [] {
    auto* made = new Channel;
    std::atexit([] { of_process().flush(); });
    return made;
  }();
  return *channel;
}

Channel::Channel() : process_(getpid()) {
  if (const char* text = std::getenv(kSocketVariable)) socket_ = std::atoi(text);
  ByteVector hello;
  put_number(hello, kMessagesVersion);
  put_number(hello, static_cast<std::uint64_t>(process_));
  send(Message::Hello, hello);
}

void Channel::send(Message message, const ByteVector& bytes) {
  waiting_.push_back(static_cast<std::uint8_t>(message));
  for (unsigned i = 0; i < 4; ++i) waiting_.push_back(static_cast<std::uint8_t>(bytes.size() >> (8 * i)));
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  if (waiting_.size() >= kEnoughToSend) flush();
}

void Channel::refuse(std::string_view why) {
  const ByteVector bytes(why.begin(), why.end());
  ByteVector text;
  put_text(text, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  send(Message::Refuse, text);
  flush();
  _exit(kExitRefused);
}

void Channel::flush() {
  // A copy of the process has a copy of these bytes, which are not its own.
  if (socket_ < 0 || getpid() != process_) {
    waiting_.clear();
    return;
  }
  for (std::size_t done = 0; done < waiting_.size();) {
    const ssize_t sent = ::send(socket_, waiting_.data() + done, waiting_.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) _exit(kExitRefused);  // whoever records has gone
    done += static_cast<std::size_t>(sent);
  }
  waiting_.clear();
}

}  // namespace nearfar::opencl
