#include "study/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>

#include "config/error.h"

namespace nearfar {
namespace {

constexpr int kProgressDescriptor = 3;
constexpr int kCouldNotStart = 127;
constexpr std::size_t kMostErrorText = 4096;

struct Pipe {
  int read = -1, write = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw InputError(fmt::format("A run cannot be started: {}.", std::generic_category().message(errno)));
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {ends[0], ends[1]};
}

/// In the child, where nothing may be allocated: becomes the program or ends.
[[noreturn]] void become(const char* program, char* const* arguments, pid_t parent, int progress, int errors) {
  setpgid(0, 0);  // the terminal's Ctrl-C is for the study, which decides
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kCouldNotStart);  // it died before it was asked to take this one along
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  if (progress == kProgressDescriptor) {
    fcntl(progress, F_SETFD, 0);
  } else {
    dup2(progress, kProgressDescriptor);
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
  execv(program, arguments);
  const char* reason = std::strerror(errno);
  for (const char* text : {"cannot start `", program, "`: ", reason, "\n"}) {
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  _exit(kCouldNotStart);
}

void drain(int descriptor, std::string& into) {
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t size = ::read(descriptor, buffer.data(), buffer.size());
    if (size <= 0) return;
    into.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

ProgressLineValues parse_progress(const std::string& text) {
  const std::size_t end = text.rfind('\n');
  if (end == std::string::npos) return {};
  const std::size_t before = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  ProgressLineValues values;
  values.last = text.substr(begin, end - begin);
  double done = 0, total = 0;
  if (std::sscanf(values.last.c_str(), "%lf %lf", &done, &total) == 2 && total > 0) values.share = done / total;
  return values;
}

std::string complaint_of(const std::string& text, const std::string& otherwise) {
  std::string_view said = trimmed(text);
  constexpr std::string_view kPrefix = "nearfar: error: ";
  if (said.starts_with(kPrefix)) said.remove_prefix(kPrefix.size());
  return said.empty() ? otherwise : std::string(said);
}

Child::Child(const std::string& program, std::vector<std::string> words)
    : start_(Clock::now()), last_progress_(start_) {
  words.insert(words.begin(), program);
  words.insert(words.end(), {kProgressOption, std::to_string(kProgressDescriptor)});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const Pipe progress = make_pipe(), errors = make_pipe();
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) become(program.c_str(), arguments.data(), parent, progress.write, errors.write);
  close(progress.write);
  close(errors.write);
  progress_ = progress.read;
  error_ = errors.read;
  if (process_ < 0)
    throw InputError(fmt::format("A run cannot be started: {}.", std::generic_category().message(errno)));
  exit_ = static_cast<int>(syscall(SYS_pidfd_open, process_, 0));
}

Child::~Child() {
  if (!ended_) {
    kill();
    waitpid(process_, nullptr, 0);
  }
  for (const int descriptor : {exit_, progress_, error_}) close(descriptor);
}

void Child::listen() {
  drain(progress_, progress_text_);
  const ProgressLineValues progress = parse_progress(progress_text_);
  if (!progress.last.empty() && progress.last != last_line_) {
    last_progress_ = Clock::now();
    share_ = progress.share;
    last_line_ = progress.last;
    progress_text_.erase(0, progress_text_.rfind('\n') + 1);
  }
  drain(error_, error_text_);
  if (error_text_.size() > kMostErrorText) error_text_.erase(0, error_text_.size() - kMostErrorText);
}

bool Child::ended() {
  if (!ended_ && waitpid(process_, &status_, WNOHANG) == process_) {
    ended_ = true;
    listen();
  }
  return ended_;
}

void Child::kill() const {
  ::kill(-process_, SIGKILL);  // with what it may have started; it leads a group of its own
  ::kill(process_, SIGKILL);   // or is just about to
}

double Child::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

double Child::seconds_since_progress() const {
  return std::chrono::duration<double>(Clock::now() - last_progress_).count();
}

std::uint64_t Child::resident_bytes() const {
  std::ifstream file(fmt::format("/proc/{}/statm", process_));
  std::uint64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

bool Child::succeeded() const { return ended_ && WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }

bool Child::ended_by_signal() const { return ended_ && WIFSIGNALED(status_); }

std::string Child::error() const {
  if (WIFSIGNALED(status_)) {
    const int number = WTERMSIG(status_);
    const std::string how = fmt::format("it was ended by signal {} ({}{})", number, strsignal(number),
                                        number == SIGKILL ? "; perhaps there was not enough memory" : "");
    const std::string said = complaint_of(error_text_, "");
    return said.empty() ? how : how + ": " + said;
  }
  return complaint_of(error_text_, fmt::format("it ended with exit code {} and said nothing", WEXITSTATUS(status_)));
}

}  // namespace nearfar
