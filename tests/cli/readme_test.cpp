// Lines of the README that name a file work as they are written, from a fresh clone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/process.h"

namespace nearfar::readme_test {
namespace {

using ::testing::HasSubstr;
using testing::Outcome;
using testing::read_file;
using testing::run_shell;

TEST(Readme, ItsGraphIsThere) {
  std::istringstream readme(read_file(NEARFAR_SOURCE_DIR "/README.md"));
  unsigned found = 0;
  for (std::string line; std::getline(readme, line);) {
    const std::string program = "./nearfar ";
    if (!line.starts_with(program) || line.find("--input") == std::string::npos) continue;
    ++found;
    const Outcome outcome =
        run_shell("cd " NEARFAR_SOURCE_DIR " && " NEARFAR_PROGRAM " " + line.substr(program.size()));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("SSSP"));
  }
  EXPECT_EQ(found, 1U);
}

}  // namespace
}  // namespace nearfar::readme_test
