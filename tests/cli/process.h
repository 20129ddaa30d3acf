// Runs the real program, as a person would, and keeps what it said.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace nearfar::testing {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder that is gone with the test.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "nearfar-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

/// `command` is read by the shell.
inline Outcome run_shell(const std::string& command) {
  const ScratchFolder scratch;
  const std::string out = scratch.file("out"), err = scratch.file("err");
  const int status = std::system(("{ " + command + "\n} >" + out + " 2>" + err).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
}

inline const std::string kProgram = "NEARFAR_SYSTEMS=" NEARFAR_SOURCE_DIR "/systems " NEARFAR_PROGRAM " ";

inline Outcome nearfar(const std::string& arguments) { return run_shell(kProgram + arguments); }

/// A run that takes no time worth mentioning.
inline const std::string kTinyRun = "run MT --size small --param width=64 ";

}  // namespace nearfar::testing
