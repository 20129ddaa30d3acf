// Traces of other tools, small ones of the project's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>

#include <filesystem>
#include <fstream>

#include "config/error.h"
#include "trace/accel_sim.h"
#include "trace/csv_import.h"
#include "trace/recorded.h"

namespace nearfar::import_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
namespace fs = std::filesystem;

/// A folder of files that is gone afterwards.
class Importers : public ::testing::Test {
 protected:
  Importers() : folder_(fs::path(::testing::TempDir()) / "nearfar_import") {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  ~Importers() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  std::string accel_sim(const std::string& path, bool copies = true) const {
    TraceBytes out;
    import_accel_sim(path, {.copies = copies}, out);
    return to_text(out.bytes);
  }
  std::string csv(const std::string& text, std::uint32_t lanes = 64) const {
    TraceBytes out;
    import_csv(write("table.csv", text), {.lanes = lanes}, out);
    return to_text(out.bytes);
  }
  /// Without the header.
  static std::string program(const std::string& text) { return text.substr(text.find("buffer")); }

 private:
  fs::path folder_;
};

std::string kernel(unsigned version, const std::string& blocks, const std::string& block_dim = "(64,1,1)") {
  return "-kernel name = add\n-kernel id = 1\n-grid dim = (2,1,1)\n-block dim = " + block_dim +
         "\n-shmem = 512\n-shmem base_addr = 0x00007f0039000000\n-local mem base_addr = 0x00007f0037000000\n"
         "-accelsim tracer version = " +
         std::to_string(version) + "\n\n#traces format = PC mask\n\n" + blocks;
}

constexpr const char* kBlocks = R"(#BEGIN_TB

thread block = 1,0,0

warp = 1
insts = 9
0000 ffffffff 1 R1 IMAD 2 R2 R3 0 
0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f0000001000 4 
0020 0000000f 1 R6 LDG.E.64 1 R2 8 2 0x7f0000001000 16 -8 64 
0030 00000003 1 R8 LDG.E.U8 1 R2 1 0 0x7f0000002000 0x7f0000001fff 
0040 00000000 1 R9 LDG.E 1 R2 4 
0050 ffffffff 1 R5 FADD 2 R4 R4 0 
0060 ffffffff 1 R5 FADD 2 R7 R4 0 
0070 ffffffff 0 STG.E 2 R2 R5 4 1 0x7f0000003000 4 
0080 ffffffff 0 EXIT 0 0 
#END_TB
#BEGIN_TB
thread block = 0,0,0
warp = 0
insts = 6
0000 ffffffff 0 STS 2 R2 R5 4 1 0x10 4 
0010 ffffffff 0 BAR.SYNC 0 0 
0020 ffffffff 0 MEMBAR.SC.GPU 0 0 
0030 ffffffff 0 LD.E 1 R5 4 1 0x7f0039000010 4 
0040 00000001 0 RED.E.ADD.F64 1 R5 8 1 0x7f0000001008 0 
0050 ffffffff 1 R3 STL 1 R5 4 1 0x8 4 
#END_TB
)";

TEST_F(Importers, ReadTheFormsOfSassAddresses) {
  const std::string text = accel_sim(write("kernel-1.traceg", kernel(3, kBlocks)));
  EXPECT_EQ(program(text),
            R"(buffer "region0" 0x7f0000001000 12288 distribute
launch "add" 2 1 1 64 1 512 offset x
wave 0 0
local 1
barrier
fence gpu
local 1
atomic 8 stride 0x7f0000001008 0 0x1
valu 1
wave 1 1
valu 1
load 4 stride 0x7f0000001000 4 0xffffffff
load 8 lanes 0xf 0x7f0000001000 0x7f0000001010 0x7f0000001008 0x7f0000001048
load 1 stride 0x7f0000002000 -1 0x3
valu 1
wait 2
valu 1
wait 1
valu 1
store 4 stride 0x7f0000003000 4 0xffffffff
salu 1
)");
  EXPECT_THAT(text, HasSubstr("lanes 32\nline 128\n"));
}

/// Version 5 writes an immediate behind every instruction.
TEST_F(Importers, ReadImmediates) {
  std::string blocks = kBlocks;
  for (std::size_t at = 0; (at = blocks.find(" \n", at)) != std::string::npos; at += 4) blocks.replace(at, 2, " 0 \n");
  EXPECT_EQ(program(accel_sim(write("k.traceg", kernel(5, blocks)))),
            program(accel_sim(write("k3.traceg", kernel(3, kBlocks)))));
}

std::string compressed_by_xz(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                          reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
  out.resize(size);
  return out;
}

TEST_F(Importers, ReadListsWithCopiesAndCompressedKernels) {
  const std::string packed = compressed_by_xz(kernel(4, kBlocks));
  write("kernel-1.traceg.xz", packed);
  const std::string list =
      write("kernelslist.g", "MemcpyHtoD,0x00007f0000001010,200\nkernel-1.traceg\nMemcpyDtoH,0x00007f0000003000,128\n");
  EXPECT_THAT(accel_sim(list), HasSubstr("\ncopy host 0x7f0000001000 256 1 0\nlaunch"));
  EXPECT_THAT(accel_sim(list), HasSubstr("\ncopy 0x7f0000003000 host 128 1 0\n"));
  EXPECT_THAT(accel_sim(list, false), ::testing::Not(HasSubstr("copy")));
  write("kernel-1.traceg.xz", packed.substr(0, packed.size() / 2));
  EXPECT_THAT([&] { accel_sim(list); }, ThrowsMessage<InputError>(HasSubstr("truncated")));
}

TEST_F(Importers, RefuseSassThatIsWrongWithItsLine) {
  const auto fails = [&](const std::string& text, const std::string& why) {
    EXPECT_THAT([&] { accel_sim(write("k.traceg", text)); }, ThrowsMessage<InputError>(HasSubstr(why)));
  };
  fails(kernel(2, kBlocks), "the tracer has version 2");
  fails(kernel(3, "thread block = 5,0,0\n"), "k.traceg:12: the thread block lies outside the grid");
  fails(kernel(3, "thread block = 0,0,0\nwarp = 2\n"), "the thread block has 2 warps");
  fails(kernel(3, "thread block = 0,0,0\nwarp = 0\ninsts = 2\n0000 ff 0 EXIT 0 0\n"), "1 instructions of the warp are");
  fails(kernel(3, "thread block = 0,0,0\nwarp = 0\ninsts = 1\n0000 ff 1 R1 LDG 0 4 2 0x1000\n"), "before a distance");
  fails(kernel(3, "thread block = 0,0,0\nwarp = 0\ninsts = 1\n0000 zz 0 EXIT 0 0\n"), "a mask of lanes was expected");
  EXPECT_THAT([&] { accel_sim(write("list", "MemcpyHtoD,12\n")); }, ThrowsMessage<InputError>(HasSubstr("list:1:")));
  EXPECT_THAT([&] { accel_sim(write("list", "kernel-9.traceg\n")); }, ThrowsMessage<InputError>(HasSubstr("no file")));
  EXPECT_THAT([&] { accel_sim(write("list", "what\n")); }, ThrowsMessage<InputError>(HasSubstr("neither")));
}

TEST(Sass, SaysTheWidthInTheOpcode) {
  EXPECT_EQ(sass_access_bytes("LDG.E"), 4U);
  EXPECT_EQ(sass_access_bytes("LDG.E.U8.CONSTANT"), 1U);
  EXPECT_EQ(sass_access_bytes("STG.E.S16"), 2U);
  EXPECT_EQ(sass_access_bytes("LDG.E.128.SYS"), 16U);
  EXPECT_EQ(sass_access_bytes("RED.E.ADD.F64.RN"), 8U);
}

TEST_F(Importers, ReadTablesWithNamedColumns) {
  EXPECT_EQ(program(csv("time,kernel,wg,wf,inst,kind,addr,size,note\n"
                        "100,k,0,0,1,read,0x10000,4,x\n"
                        "100,k,0,0,1,read,0x10008,4,x\n"
                        "130,k,1,0,7,write,0x11000,64,x\n"
                        "150,k,0,0,2,w,65536,4,x\n")),
            R"(buffer "region0" 0x10000 8192 distribute
launch "k" 2 1 1 64 1 0 offset x
wave 0 0
time 0
load 4 stride 0x10000 8 0x3
time 50
store 4 stride 0x10000 0 0x1
wave 1 0
time 0
store 4 row 0x11000 16 0
)");
}

TEST_F(Importers, ReadPlacesAndByteMasks) {
  const std::string text =
      csv("where,what,address,mask\nGPU[2].CU[1],store,0x10000,ff0f\nGPU[1].CU[0],load,0x10040,\n", 32);
  EXPECT_THAT(text, HasSubstr("launch \"kernel\" 2 1 1 32 1 0 listed x\nplace 0 1\nplace 1 0\n"));
  EXPECT_THAT(text, HasSubstr("store 1 stride 0x10000 1 0xff0f\n"));
}

TEST_F(Importers, RefuseTablesThatAreWrongWithTheirLine) {
  const auto fails = [&](const std::string& text, const std::string& why) {
    EXPECT_THAT([&] { csv(text); }, ThrowsMessage<InputError>(HasSubstr(why)));
  };
  fails("", "the file is empty");
  fails("a,b\n1,2\n", "a column `kind` and a column `address`");
  fails("kind,address\nload\n", "table.csv:2: 1 cells, but 2 columns");
  fails("kind,address\nlood,0x1000\n", "`lood` is no kind of access");
  fails("kind,address\nload,here\n", "a whole number up to");
  fails("kind,address\n", "the table has no rows");
  fails("kind,address,instruction,lane\nload,4096,1,0\nload,4096,1,0\n", "lane 0 comes twice");
}

}  // namespace
}  // namespace nearfar::import_test
