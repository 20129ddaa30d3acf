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
#include <vector>

#include "config/error.h"

namespace nearfar {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kMostLinks = 40;  // as many as the kernel follows

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

/// Those of the file that is there, else those of a new one.
mode_t mode_for(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : usual_mode();
}

void replace(const std::string& path, std::string_view text) {
  const SignalsHeld held;
  std::string temporary = path + ".XXXXXX";
  const int descriptor = mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) refuse(path, errno);
  int error = write_all(descriptor, text);
  if (error == 0 && fchmod(descriptor, mode_for(path)) != 0) error = errno;
  if (error == 0 && fsync(descriptor) != 0) error = errno;
  if (close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  unlink(temporary.c_str());
  refuse(path, error);
}

/// Where links lead, whether or not something is there.
std::string followed(const std::string& path) {
  fs::path at = path;
  std::error_code error;
  for (unsigned links = 0; fs::is_symlink(at, error); ++links) {
    if (links == kMostLinks) refuse(path, ELOOP);
    const fs::path target = fs::read_symlink(at, error);
    if (error) refuse(path, error.value());
    at = at.parent_path() / target;  // which is `target` alone when that is absolute
  }
  return at.string();
}

/// One name for each file, whether or not it is there: only of an absolute path are all dots and links resolved.
fs::path canonical(const std::string& path) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
}

/// A rename asks only the folder. A file that nobody may write is left alone even by root, who may do anything.
void refuse_read_only(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return;
  if ((status.st_mode & 0222) == 0) throw InputError(fmt::format("`{}` cannot be written: it is read-only.", path));
  if (access(path.c_str(), W_OK) != 0) refuse(path, errno);
}

[[noreturn]] void refuse_shared(const OutputFile& one, const OutputFile& other) {
  if (one.is_stdout()) throw InputError("Only one file can go to standard output.");
  const std::string same = one.name() == other.name() ? "" : fmt::format(" and `{}`, which is the same", other.name());
  throw InputError(fmt::format("Two results cannot go to one file, `{}`{}.", one.name(), same));
}

}  // namespace

OutputFile::OutputFile(std::string path) : name_(std::move(path)), path_(name_) {
  if (is_stdout()) return;
  if (path_.empty()) throw InputError("The name of the file to write is empty.");
  std::error_code error, ignored;
  const fs::file_status status = fs::status(path_, error);
  if (!fs::status_known(status)) refuse(path_, error.value());
  if (fs::is_directory(status)) {
    throw InputError(fmt::format("`{}` is a folder; the name of a file to write was expected.", path_));
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    regular_ = false;
    if (access(path_.c_str(), W_OK) != 0) refuse(path_, errno);
    return;
  }
  // A link stays a link: what it points to is replaced, or made.
  path_ = followed(path_);
  const fs::path folder = fs::path(path_).has_parent_path() ? fs::path(path_).parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored)) {
    throw InputError(fmt::format("`{}` cannot be written: there is no folder `{}`.", path_, folder.string()));
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) refuse(path_, errno);
  refuse_read_only(path_);
}

bool OutputFile::is_same(const OutputFile& other) const {
  if (is_stdout() || other.is_stdout()) return is_stdout() && other.is_stdout();
  if (!regular_ || !other.regular_) return false;  // a device takes any number
  return canonical(path_) == canonical(other.path_);
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

bool check_outputs(std::initializer_list<const std::optional<OutputFile>*> files) {
  std::vector<const OutputFile*> given;
  for (const auto* file : files) {
    if (*file) given.push_back(&**file);
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (given[i]->is_same(*given[j])) refuse_shared(*given[j], *given[i]);
    }
  }
  return std::ranges::any_of(given, &OutputFile::is_stdout);
}

void write_stdout(std::string_view text) {
  if (const int error = write_all(STDOUT_FILENO, text); error != 0) refuse("standard output", error);
}

}  // namespace nearfar
