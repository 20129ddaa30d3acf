#include "trace/opencl/session.h"

#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "config/error.h"
#include "sim/error.h"

extern char** environ;

namespace nearfar::opencl {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }

  int get() const { return number_; }
  void reset() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The environment of this process, but for some variables.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& changes,
                                          const std::vector<std::string>& without) {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view name = std::string_view(*each).substr(0, std::string_view(*each).find('='));
    const bool changed = std::ranges::any_of(changes, [&](const auto& change) { return change.first == name; });
    if (!changed && std::ranges::find(without, name) == without.end()) all.emplace_back(*each);
  }
  for (const auto& [name, value] : changes) all.push_back(name + "=" + value);
  return all;
}

std::string in_front(const std::string& first, const std::string& before, const char* between) {
  return before.empty() ? first : first + between + before;
}

/// The recorded program as a process of its own, which does not outlive this object.
class Program {
 public:
  Program(const SessionOptions& options, const Oclgrind& oclgrind, int socket) : name_(options.words.front()) {
    const std::string folder = fs::path(oclgrind.runtime).parent_path().string();
    const std::vector<std::string> environment = environment_with(
        {{"LD_PRELOAD", in_front(oclgrind.local_size + ":" + oclgrind.runtime, variable("LD_PRELOAD"), ":")},
         {"LD_LIBRARY_PATH", in_front(folder, variable("LD_LIBRARY_PATH"), ":")},
         {"OCL_ICD_VENDORS", folder + "/liboclgrind-rt-icd.so"},
         {"OCLGRIND_PLUGINS", oclgrind.plugin},
         {"OCLGRIND_NUM_THREADS", "1"},
         {kSocketVariable, std::to_string(socket)}},
        {"OCLGRIND_QUICK", "OCLGRIND_INTERACTIVE"});
    const auto pointers = [](const std::vector<std::string>& texts) {
      std::vector<char*> all;
      for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
      all.push_back(nullptr);
      return all;
    };
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, socket);  // which leaves it open there
    const int error = posix_spawnp(&process_, name_.c_str(), &actions, nullptr, pointers(options.words).data(),
                                   pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
      throw InputError(fmt::format("`{}` cannot be run: {}.", name_, std::generic_category().message(error)));
    }
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (ended_) return;
    kill(process_, SIGKILL);
    wait(0);
  }

  bool has_ended() { return ended_ || wait(WNOHANG); }
  /// Waits for its end, and says what is wrong with it.
  void check_end(bool any_exit) {
    if (!ended_) wait(0);
    if (WIFSIGNALED(status_)) {
      throw InputError(fmt::format("`{}` was ended by signal {} ({}), so there is no trace of it.", name_,
                                   WTERMSIG(status_), strsignal(WTERMSIG(status_))));
    }
    if (WEXITSTATUS(status_) != 0 && !any_exit) {
      throw InputError(
          fmt::format("`{}` ended with exit code {}, so there is no trace of it; --any-exit records it "
                      "all the same.",
                      name_, WEXITSTATUS(status_)));
    }
  }

 private:
  bool wait(int flags) {
    pid_t got = 0;
    do got = waitpid(process_, &status_, flags);
    while (got < 0 && errno == EINTR);
    ended_ = got != 0;
    return ended_;
  }

  std::string name_;
  pid_t process_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

/// Cuts what comes over the socket into messages.
class Messages {
 public:
  explicit Messages(int socket) : socket_(socket) {}

  /// Waits until something has come, for a while. False when nothing can come any more.
  bool receive(Program& program) {
    constexpr int kMilliseconds = 100;
    pollfd ready{socket_, POLLIN, 0};
    const bool had_ended = program.has_ended();
    const int count = poll(&ready, 1, had_ended ? 0 : kMilliseconds);
    // Others may hold the socket when the program has ended: what it said has come by then.
    if (count <= 0) return !had_ended;
    const ssize_t got = recv(socket_, buffer_.data(), buffer_.size(), 0);
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return false;
    bytes_.insert(bytes_.end(), buffer_.data(), buffer_.data() + got);
    return true;
  }

  void give_to(Recorder& recorder) {
    std::size_t at = 0;
    while (bytes_.size() - at >= kHead) {
      std::size_t size = 0;
      for (unsigned i = 0; i < 4; ++i) size |= std::size_t{bytes_[at + 1 + i]} << (8 * i);
      if (bytes_.size() - at - kHead < size) break;
      recorder.take(static_cast<Message>(bytes_[at]), std::span(bytes_).subspan(at + kHead, size));
      at += kHead + size;
    }
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(at));
  }

 private:
  static constexpr std::size_t kHead = 5;

  int socket_;
  ByteVector bytes_;
  std::array<std::uint8_t, 1 << 16> buffer_;
};

void need_file(const std::string& path) {
  if (!path.empty() && fs::exists(path)) return;
  throw InputError(
      "Recording OpenCL programs takes Oclgrind, which was not there when nearfar was built: install the Debian "
      "packages "
      "oclgrind, liboclgrind-dev, llvm-14-dev and ocl-icd-opencl-dev (`./test extras` does), and build nearfar again.");
}

}  // namespace

Oclgrind find_oclgrind() {
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path();
  const auto beside = [&](const char* name) {
    const fs::path built = program / name;
    return (fs::exists(built) ? built : program / ".." / NEARFAR_LIBRARY_FOLDER / "nearfar" / name).string();
  };
  const char* runtime = std::getenv("NEARFAR_OCLGRIND_RUNTIME");
  Oclgrind found{beside("nearfar_oclgrind.so"), beside("nearfar_local_size.so"),
                 runtime != nullptr ? runtime : NEARFAR_OCLGRIND_RUNTIME};
  for (const std::string* path : {&found.plugin, &found.local_size, &found.runtime}) need_file(*path);
  return found;
}

RecordingNotes record_program(const SessionOptions& options, const Oclgrind& oclgrind, const TraceHeader& header,
                              TraceSink& sink) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw InputError(fmt::format("There is no socket to record by: {}.", std::generic_category().message(errno)));
  }
  Descriptor here(ends[0]), there(ends[1]);
  Recorder recorder(sink, header, options.host_events);
  Program program(options, oclgrind, there.get());
  there.reset();
  auto messages = std::make_unique<Messages>(here.get());
  try {
    while (messages->receive(program)) messages->give_to(recorder);
    program.check_end(options.any_exit);
    if (!recorder.began()) {
      throw InputError(
          fmt::format("`{}` did not use OpenCL, or in a way that Oclgrind does not see (docs/opencl.md): it has to be "
                      "a dynamically "
                      "linked program that calls libOpenCL.",
                      options.words.front()));
    }
    return recorder.finish();
  } catch (const MalformedBytes& malformed) {
    throw SimulationError(fmt::format("What the Oclgrind plugin says is not understood: {}.", malformed.what()));
  }
}

}  // namespace nearfar::opencl
