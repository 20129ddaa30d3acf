// Linux lists all locks in /proc/locks: "1: POSIX  ADVISORY  WRITE 123 08:01:4567 0 EOF", with the process and the
// file's device and inode.
#include "study/lock_holder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace nearfar {
namespace {

constexpr std::size_t kLongestCommand = 80;

/// The command line of a process, its words with spaces between.
std::string command_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  if (text.size() > kLongestCommand) text = text.substr(0, kLongestCommand) + "…";
  return text;
}

}  // namespace

std::string lock_holder(const std::string& path) {
  struct stat file {};
  const std::string own = std::to_string(getpid());
  if (stat(path.c_str(), &file) == 0) {
    const std::string inode = fmt::format("{:02x}:{:02x}:{}", major(file.st_dev), minor(file.st_dev), file.st_ino);
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);) {
      std::istringstream words(line);
      std::string number, kind, nature, access, process, where;
      words >> number >> kind >> nature >> access >> process >> where;
      if (where != inode || process == own) continue;
      const std::string command = command_of(process);
      return command.empty() ? "process " + process : fmt::format("process {} ({})", process, command);
    }
  }
  return "another program";
}

}  // namespace nearfar
