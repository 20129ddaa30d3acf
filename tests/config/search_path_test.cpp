// Where files are looked for by name: folders of the user before those that come with the program.
#include "config/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "config/error.h"
#include "config/temp_systems.h"

namespace nearfar {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

namespace fs = std::filesystem;

constexpr const char* kVariable = "NEARFAR_SYSTEMS";

/// Sets a variable of the environment while it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

TEST(SearchPath, ThoseOfTheVariableInTheirOrder) {
  const TempSystems temp;
  const fs::path a = temp.root() / "a", b = temp.root() / "b";
  write(a / "both.yaml", "gpus: 2\n");
  write(b / "both.yaml", "gpus: 3\n");
  write(b / "second.yml", "gpus: 4\n");
  const Variable variable(kVariable, a.string() + ":" + b.string());
  const SearchPath path("systems", kVariable);
  EXPECT_THAT(path.names(), ElementsAre("both", "second"));
  EXPECT_EQ(path.find("both")->path, a / "both.yaml");
  EXPECT_EQ(path.find("second")->path, b / "second.yml");
  EXPECT_EQ(path.find("second")->shown, "b/second.yml");
  EXPECT_FALSE(path.find("third"));
  EXPECT_FALSE(path.find("../b/second"));
  EXPECT_EQ(path.text(), a.string() + ", " + b.string());
  EXPECT_EQ(parameter(load_system("second", {}), "gpus").value, "4");
}

TEST(SearchPath, AnEmptyNameStandsForTheUsualFolders) {
  const TempSystems temp;
  const fs::path mine = temp.root() / "mine";
  write(mine / "ideal-4gpu.yaml", "gpus: 7\n");
  {
    const Variable variable(kVariable, mine.string());
    EXPECT_THAT(SearchPath("systems", kVariable).names(), ElementsAre("ideal-4gpu"));
  }
  const Variable variable(kVariable, mine.string() + ":");
  EXPECT_THAT(SearchPath("systems", kVariable).names(), Contains("ring-8gpu"));
  EXPECT_EQ(parameter(load_system("ideal-4gpu", {}), "gpus").value, "7") << "the user's file hides the shipped one";
}

TEST(SearchPath, AFolderHereHidesNoShippedFile) {
  const TempSystems temp;
  temp.write("mine", "base: ideal-4gpu\ngpus: 3\n");
  unsetenv(kVariable);
  const fs::path before = fs::current_path();
  fs::current_path(temp.root());
  EXPECT_THAT(SearchPath("systems", kVariable).names(), Contains("ring-8gpu"));
  EXPECT_EQ(failure("mine"), "");
  EXPECT_EQ(failure("ring-8gpu"), "");
  fs::current_path(before);
}

TEST(SearchPath, TheUsersConfigurationComesBeforeWhatIsShipped) {
  const TempSystems temp;
  const Variable configuration("XDG_CONFIG_HOME", (temp.root() / "config").string());
  write(temp.root() / "config/nearfar/systems/at-home.yaml", "gpus: 2\n");
  unsetenv(kVariable);
  const fs::path before = fs::current_path();
  fs::current_path("/");
  EXPECT_THAT(SearchPath("systems", kVariable).names(), Contains("at-home"));
  EXPECT_EQ(failure("at-home"), "");
  fs::current_path(before);
}

TEST(SearchPath, BothEndingsAreFiles) {
  EXPECT_TRUE(is_yaml_path("a/b.yaml"));
  EXPECT_TRUE(is_yaml_path("b.yml"));
  EXPECT_FALSE(is_yaml_path("yaml"));
  const TempSystems temp;
  write(temp.root() / "own.yml", "gpus: 2\n");
  EXPECT_EQ(failure((temp.root() / "own.yml").string()), "");
  EXPECT_THAT(names_in(temp.root()), ElementsAre("own"));
  EXPECT_THAT(names_in(temp.root() / "nowhere"), Not(Contains("own")));
}

}  // namespace
}  // namespace nearfar
