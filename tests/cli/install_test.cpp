// What ./nearfar and ./test install starts no service and enables none. A made-up apt-get does what packages of
// services do, in a folder that stands for the machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/process.h"

namespace nearfar::install_test {
namespace {

using ::testing::HasSubstr;
using testing::Outcome;
using testing::read_file;
using testing::run_shell;
using testing::ScratchFolder;
namespace fs = std::filesystem;

/// Asks whether it may start a service, as Debian's packages do, and enables it for systemd and System V.
constexpr const char* kAptGet = R"(#!/bin/sh
echo "$@" >"$NEARFAR_INSTALL_ROOT/words"
if "$NEARFAR_INSTALL_ROOT/usr/sbin/policy-rc.d" munge start; then touch "$NEARFAR_INSTALL_ROOT/started"; fi
cd "$NEARFAR_INSTALL_ROOT/etc"
ln -s /lib/systemd/system/munge.service systemd/system/multi-user.target.wants/munge.service
mkdir systemd/system/new.target.wants
ln -s /lib/systemd/system/slurmd.service systemd/system/new.target.wants/slurmd.service
ln -s ../init.d/munge rc2.d/S01munge
ln -s ../init.d/munge rc2.d/K01munge
[ ! -e "$NEARFAR_INSTALL_ROOT/broken" ]
)";

class Install : public ::testing::Test {
 protected:
  Install() {
    for (const char* folder : {"bin", "usr/sbin", "etc/rc2.d", "etc/systemd/system/multi-user.target.wants"}) {
      fs::create_directories(machine_.path() / folder);
    }
    write("bin/apt-get", kAptGet);
    fs::create_symlink("/lib/systemd/system/other.service", wants("other.service"));
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(machine_.file(name)) << text;
    fs::permissions(machine_.file(name), fs::perms::owner_all);
  }
  std::string wants(const std::string& unit) const {
    return machine_.file("etc/systemd/system/multi-user.target.wants/" + unit);
  }
  bool exists(const std::string& name) const { return fs::exists(fs::symlink_status(machine_.path() / name)); }
  Outcome install() const {
    const std::string folder = machine_.path().string();
    return run_shell("NEARFAR_INSTALL_ROOT=" + folder + " PATH=" + folder +
                     "/bin:$PATH " NEARFAR_SOURCE_DIR "/cmake/install_packages.sh munge slurm-wlm");
  }
  void expect_as_before() const {
    EXPECT_FALSE(exists("started"));
    EXPECT_FALSE(exists("etc/systemd/system/multi-user.target.wants/munge.service"));
    EXPECT_FALSE(exists("etc/systemd/system/new.target.wants"));
    EXPECT_FALSE(exists("etc/rc2.d/S01munge"));
    EXPECT_TRUE(exists("etc/systemd/system/multi-user.target.wants/other.service")) << "it was there before";
  }

  ScratchFolder machine_;
};

TEST_F(Install, StartsAndEnablesNothing) {
  const Outcome outcome = install();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(read_file(machine_.file("words")), HasSubstr("--no-remove munge slurm-wlm"));
  expect_as_before();
  EXPECT_FALSE(exists("usr/sbin/policy-rc.d")) << "there was none";
}

TEST_F(Install, LeavesAPolicyAsItWas) {
  write("usr/sbin/policy-rc.d", "exit 0 # of the user\n");
  EXPECT_EQ(install().code, 0);
  expect_as_before();
  EXPECT_EQ(read_file(machine_.file("usr/sbin/policy-rc.d")), "exit 0 # of the user\n");
  EXPECT_EQ(run_shell("ls " + machine_.file("usr/sbin")).out, "policy-rc.d\n");
}

TEST_F(Install, TidiesUpAfterAFailureToo) {
  write("broken", "");
  write("usr/sbin/policy-rc.d", "exit 0 # of the user\n");
  EXPECT_NE(install().code, 0);
  expect_as_before();
  EXPECT_EQ(read_file(machine_.file("usr/sbin/policy-rc.d")), "exit 0 # of the user\n");
}

TEST_F(Install, PutsRightWhatAKilledOneLeft) {
  write("usr/sbin/policy-rc.d", "exit 101\n");
  write("usr/sbin/policy-rc.d.before-nearfar", "exit 0 # of the user\n");
  EXPECT_EQ(install().code, 0);
  EXPECT_EQ(read_file(machine_.file("usr/sbin/policy-rc.d")), "exit 0 # of the user\n");
  EXPECT_FALSE(exists("usr/sbin/policy-rc.d.before-nearfar"));
}

TEST_F(Install, TakesTheBoostOfALaterSystem) {
  const auto chosen = [&](const std::string& apt_cache) {
    write("bin/apt-cache", "#!/bin/sh\n" + apt_cache + "\n");
    return run_shell("PATH=" + machine_.path().string() +
                     "/bin:$PATH bash -c 'root=" NEARFAR_SOURCE_DIR
                     "; source $root/cmake/setup.sh; missing=(g++ libboost1.81-dev cmake); use_boost_of_system; "
                     "echo ${missing[*]}'")
        .out;
  };
  EXPECT_EQ(chosen("echo Package: libboost1.81-dev"), "g++ libboost1.81-dev cmake\n");
  EXPECT_EQ(chosen("exit 0"), "g++ libboost-dev cmake\n") << "others mention it, as on Debian 13";
  EXPECT_EQ(chosen("exit 100"), "g++ libboost-dev cmake\n") << "there is no package of that name";
}

}  // namespace
}  // namespace nearfar::install_test
