// Locks are single bytes of one file, chosen by the key: nothing has to be removed after a kill.
#include "study/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace nearfar {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLockDigits = 15;  // what fits a file's offset
constexpr std::size_t kRoom = 256 * 1024;

[[noreturn]] void refuse(const std::string& path, int error) {
  throw StoreError(fmt::format("`{}` cannot be written: {}.", path, std::generic_category().message(error)));
}

}  // namespace

RunFolder::RunFolder(const std::string& store_path) {
  std::error_code error;
  path_ = fs::absolute(store_path, error).string() + ".runs";
  if (error) refuse(store_path, error.value());
  fs::create_directory(path_, error);
  if (error) refuse(path_, error.value());
  const std::string lock_path = path_ + "/lock";
  lock_file_ = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_file_ < 0) refuse(lock_path, errno);
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end; entry.increment(error)) {
    leftovers_.insert(entry->path().filename().string());
  }
}

RunFolder::~RunFolder() { close(lock_file_); }

std::string RunFolder::file(const std::string& key, const std::string& extension) const {
  return path_ + "/" + key + "." + extension;
}

bool RunFolder::set_lock(const std::string& key, short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(std::stoll(key.substr(0, kLockDigits), nullptr, 16));
  range.l_len = 1;
  return fcntl(lock_file_, F_OFD_SETLK, &range) == 0;
}

bool RunFolder::lock(const std::string& key) { return set_lock(key, F_WRLCK); }

void RunFolder::unlock(const std::string& key) { set_lock(key, F_UNLCK); }

bool RunFolder::harvest(const PlannedRun& run, ResultStore& store) const {
  const std::string path = result_path(run.key);
  std::error_code error;
  if (!fs::exists(path, error)) return false;
  try {
    store.add(read_result(path, run.key), run.program, run.machine);
  } catch (const BadResult&) {
    clean(run.key);
    throw;
  }
  clean(run.key);
  return true;
}

void RunFolder::clean(const std::string& key) const {
  std::error_code ignored;
  for (const char* extension : {"json", "err", "exit", "progress", "job"}) fs::remove(file(key, extension), ignored);
  for (auto name = leftovers_.lower_bound(key); name != leftovers_.end() && name->starts_with(key); ++name) {
    fs::remove(path_ + "/" + *name, ignored);
  }
}

bool RunFolder::has_leftover(const std::string& key) const {
  const auto name = leftovers_.lower_bound(key);
  return name != leftovers_.end() && name->starts_with(key);
}

void RunFolder::check_room() const {
  std::string path = path_ + "/room.XXXXXX";
  const int file = mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) refuse(path_, errno);
  const std::string bytes(kRoom, 'x');
  const bool fits = write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) && fsync(file) == 0;
  const int error = fits ? 0 : errno == 0 ? ENOSPC : errno;
  close(file);
  unlink(path.c_str());
  if (!fits) refuse(path_, error);
}

}  // namespace nearfar
