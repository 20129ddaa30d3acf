// Atomic files: a temporary one in the same folder, synced, then renamed over the target.
#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "config/error.h"

namespace nearfar {
namespace {

/// Holds back the signals by which a person ends a program; they arrive when it is destroyed.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

[[noreturn]] void refuse(const std::string& path, int error) {
  throw InputError(fmt::format("`{}` cannot be written: {}.", path, std::generic_category().message(error)));
}

/// Returns errno of the first write that failed, or 0.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

void write_in_place(const std::string& path, std::string_view text) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) refuse(path, errno);
  const int error = write_all(descriptor, text);
  close(descriptor);
  if (error != 0) refuse(path, error);
}

/// The permissions a new file would have, which mkostemp does not give.
mode_t usual_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

void replace(const std::string& path, std::string_view text) {
  const SignalsHeld held;
  std::string temporary = path + ".XXXXXX";
  const int descriptor = mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) refuse(path, errno);
  int error = write_all(descriptor, text);
  if (error == 0 && fchmod(descriptor, usual_mode()) != 0) error = errno;
  if (error == 0 && fsync(descriptor) != 0) error = errno;
  if (close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  unlink(temporary.c_str());
  refuse(path, error);
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  namespace fs = std::filesystem;
  if (is_stdout()) return;
  if (path_.empty()) throw InputError("The name of the file to write is empty.");
  std::error_code ignored;
  if (fs::is_directory(path_, ignored)) {
    throw InputError(fmt::format("`{}` is a folder; the name of a file to write was expected.", path_));
  }
  // A link stays a link: what it points to is replaced.
  if (fs::is_symlink(path_, ignored)) path_ = fs::weakly_canonical(path_, ignored).string();
  if (fs::exists(path_, ignored) && !fs::is_regular_file(path_, ignored)) {
    regular_ = false;
    if (access(path_.c_str(), W_OK) != 0) refuse(path_, errno);
    return;
  }
  const fs::path folder = fs::path(path_).has_parent_path() ? fs::path(path_).parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored)) {
    throw InputError(fmt::format("`{}` cannot be written: there is no folder `{}`.", path_, folder.string()));
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) refuse(path_, errno);
}

void OutputFile::write(std::string_view text) const {
  if (is_stdout()) {
    write_stdout(text);
  } else if (regular_) {
    replace(path_, text);
  } else {
    write_in_place(path_, text);
  }
}

bool any_stdout(std::initializer_list<const std::optional<OutputFile>*> files) {
  const auto count = std::ranges::count_if(files, [](const auto* file) { return *file && (*file)->is_stdout(); });
  if (count > 1) throw InputError("Only one file can go to standard output.");
  return count == 1;
}

void write_stdout(std::string_view text) {
  if (const int error = write_all(STDOUT_FILENO, text); error != 0) refuse("standard output", error);
}

}  // namespace nearfar
