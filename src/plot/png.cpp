// A child process that reads SVG from an unnamed file and writes PNG or PDF into a pipe.
#include "plot/png.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <vector>

#include "config/error.h"

extern char** environ;

namespace nearfar::plot {
namespace {

constexpr const char* kConverter = "rsvg-convert";

[[noreturn]] void refuse(std::string_view why) {
  throw InputError(fmt::format("A PNG or PDF cannot be made: {}.", why));
}

/// A descriptor that is closed with its scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {
    if (number < 0) refuse(std::generic_category().message(errno));
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

void write_whole(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) refuse(std::generic_category().message(errno));
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  lseek(descriptor, 0, SEEK_SET);
}

std::string read_whole(int descriptor) {
  std::string out;
  std::array<char, 1 << 16> buffer{};
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count == 0) return out;
    if (count < 0 && errno != EINTR) refuse(std::generic_category().message(errno));
    if (count > 0) out.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

pid_t start(int input, int output, std::vector<std::string> words) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  words.insert(words.begin(), kConverter);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  // The time that a PDF says it was made at would make two of one picture differ.
  std::string no_time = "SOURCE_DATE_EPOCH=0";
  std::vector<char*> environment = {no_time.data()};
  for (char** variable = environ; *variable != nullptr; ++variable) environment.push_back(*variable);
  environment.push_back(nullptr);
  const int error = posix_spawnp(&child, kConverter, &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) refuse(fmt::format("{}: {}", kConverter, std::generic_category().message(error)));
  return child;
}

bool on_path(std::string_view program) {
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path == nullptr ? "" : path; !rest.empty();) {
    const std::size_t end = rest.find(':');
    if (access(fmt::format("{}/{}", rest.substr(0, end), program).c_str(), X_OK) == 0) return true;
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return false;
}

std::string converted(const std::string& svg, std::vector<std::string> words) {
  need_png();
  Descriptor input(memfd_create("svg", MFD_CLOEXEC));
  write_whole(input.number(), svg);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) refuse(std::generic_category().message(errno));
  Descriptor from(ends[0]), to(ends[1]);
  const pid_t child = start(input.number(), to.number(), std::move(words));
  to.close();
  std::string picture = read_whole(from.number());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) refuse("rsvg-convert failed");
  return picture;
}

}  // namespace

void need_png() {
  if (!on_path(kConverter)) refuse("the program rsvg-convert is missing (Debian package librsvg2-bin)");
}

std::string png_of(const std::string& svg, double zoom) {
  return converted(svg, {fmt::format("--zoom={:g}", zoom), "--format=png"});
}

std::string pdf_of(const std::string& svg) { return converted(svg, {"--format=pdf"}); }

}  // namespace nearfar::plot
