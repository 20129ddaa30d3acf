// Bad configurations and the whole message each must get. The messages are part of what a user sees of the program:
// where, what is wrong, what was expected, and the nearest right name.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/temp_systems.h"

namespace nearfar::bad_configs_test {
namespace {

using std::string_view_literals::operator""sv;

struct BadConfig {
  const char* name;
  std::string_view yaml;  // of the system x
  std::vector<std::string> overrides;
  const char* message;
};

constexpr std::string_view kBase =
    "abstract: true\n"
    "gpus: 4\n"
    "gpu:\n"
    "  clock: 1GHz\n"
    "  l2: {ways: 16, banks: 16}\n"
    "host:\n"
    "  dram:\n"
    "    standard: ddr4-2400\n";

const std::vector<BadConfig>& bad_configs() {
  static const std::vector<BadConfig> kConfigs = {
      {"EmptyFile",
       ""sv,
       {},
       R"(systems/x.yaml:1:1: the file is empty; a system is a mapping of keys to values.
    1 |
      | ^)"},
      {"OnlyComments",
       "# nothing here\n"sv,
       {},
       R"(systems/x.yaml:1:1: the file is empty; a system is a mapping of keys to values.
    1 | # nothing here
      | ^)"},
      {"ListAtTheRoot",
       "- gpus: 4\n"
       "- link: ring\n"sv,
       {},
       R"(systems/x.yaml:1:1: a system is a mapping of keys to values, not a list.
    1 | - gpus: 4
      | ^)"},
      {"ScalarAtTheRoot",
       "four GPUs\n"sv,
       {},
       R"(systems/x.yaml:1:1: a system is a mapping of keys to values, such as `gpus: 4`.
    1 | four GPUs
      | ^~~~~~~~~)"},
      {"UnclosedBracket",
       "gpu: {clock: 1GHz\n"
       "gpus: 2\n"sv,
       {},
       R"(systems/x.yaml:2:5: this is not YAML: missing comma in flow mapping.
    2 | gpus: 2
      |     ^)"},
      {"UnclosedQuote",
       "description: \"four GPUs\n"
       "gpus: 4\n"sv,
       {},
       R"(systems/x.yaml:1:14: this is not YAML: wrongly indented double-quoted scalar.
    1 | description: "four GPUs
      |              ^~~~~~~~~~)"},
      {"TabForIndentation",
       "gpu:\n"
       "\tclock: 1GHz\n"sv,
       {},
       R"(systems/x.yaml:2:1: this is not YAML: tab character may not be used as indentation.
    2 |  clock: 1GHz
      | ^)"},
      {"ColonInColon",
       "gpus: 4: 5\n"sv,
       {},
       R"(systems/x.yaml:1:8: this is not YAML: invalid nested block mapping on the same line.
    1 | gpus: 4: 5
      |        ^)"},
      {"WrongIndentation",
       "gpu:\n"
       "    clock: 1GHz\n"
       "  line: 64\n"sv,
       {},
       R"(systems/x.yaml:3:3: this is not YAML: invalid indentation in mapping.
    3 |   line: 64
      |   ^)"},
      {"TwoDocuments",
       "gpus: 2\n"
       "---\n"
       "gpus: 4\n"sv,
       {},
       R"(systems/x.yaml:2:1: a second document begins; a system is one.
    2 | ---
      | ^~~)"},
      {"Directive",
       "%YAML 1.2\n"
       "---\n"
       "gpus: 2\n"sv,
       {},
       R"(systems/x.yaml:1:1: directives (%) are not used in systems.
    1 | %YAML 1.2
      | ^)"},
      {"DuplicateKey",
       "gpu:\n"
       "  line: 64\n"
       "  clock: 1GHz\n"
       "  line: 128\n"sv,
       {},
       R"(systems/x.yaml:4:3: `line` is given twice; the first is in line 2.
    4 |   line: 128
      |   ^~~~)"},
      {"DuplicateSection",
       "gpu: {line: 64}\n"
       "link: {latency: 3}\n"
       "gpu: {clock: 1GHz}\n"sv,
       {},
       R"(systems/x.yaml:3:1: `gpu` is given twice; the first is in line 1.
    3 | gpu: {clock: 1GHz}
      | ^~~)"},
      {"Anchor",
       "gpu:\n"
       "  l1v: &small {size: 4KiB}\n"
       "  l1s: *small\n"sv,
       {},
       R"(systems/x.yaml:2:8: anchors (&) are not used in systems; inherit with `base` instead.
    2 |   l1v: &small {size: 4KiB}
      |        ^~~~~~)"},
      {"Alias",
       "gpu:\n"
       "  l1s: *small\n"sv,
       {},
       R"(systems/x.yaml:2:8: aliases (*) are not used in systems; inherit with `base` instead.
    2 |   l1s: *small
      |        ^~~~~~)"},
      {"Tag",
       "gpus: !!int 4\n"sv,
       {},
       R"(systems/x.yaml:1:7: tags (!) are not used in systems.
    1 | gpus: !!int 4
      |       ^~~~~)"},
      {"MergeKey",
       "host:\n"
       "  <<: {line: 64}\n"sv,
       {},
       R"(systems/x.yaml:2:3: `host` has no key `<<`. Its keys are cpu, llc, dram, dma, mmu.
    2 |   <<: {line: 64}
      |   ^~)"},
      {"KeyThatIsAList",
       "? [gpus, gpu]\n"
       ": 4\n"sv,
       {},
       R"(systems/x.yaml:1:1: a key must be a plain word.
    1 | ? [gpus, gpu]
      | ^)"},
      {"DeepNesting",
       "gpu: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n"sv,
       {},
       R"(systems/x.yaml:1:37: this is nested deeper than 32 levels.
    1 | gpu: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
      |                                     ^)"},
      {"NotUtf8",
       "description: caf\xe9\n"sv,
       {},
       R"(systems/x.yaml:1:17: the byte 0xe9 is not UTF-8; texts are read as UTF-8.
    1 | description: caf?
      |                 ^)"},
      {"NulByte",
       "gpus: 4\000\n"sv,
       {},
       R"(systems/x.yaml:1:8: the control character 0x00 does not belong in a text.
    1 | gpus: 4?
      |        ^)"},
      {"ControlCharacter",
       "gpus: \007\n"sv,
       {},
       R"(systems/x.yaml:1:7: the control character 0x07 does not belong in a text.
    1 | gpus: ?
      |       ^)"},
      {"UnknownKeyAtTheRoot",
       "base: base\n"
       "links:\n"
       "  latency: 100\n"sv,
       {},
       R"(systems/x.yaml:2:1: a system has no key `links`. Did you mean `link`?
    2 | links:
      | ^~~~~)"},
      {"UnknownKeyInSection",
       "base: base\n"
       "gpu:\n"
       "  l2:\n"
       "    sise: 4MiB\n"sv,
       {},
       R"(systems/x.yaml:4:5: `gpu.l2` has no key `sise`. Did you mean `size`?
    4 |     sise: 4MiB
      |     ^~~~)"},
      {"UnknownKeyWithNothingNear",
       "base: base\n"
       "host:\n"
       "  colour: red\n"sv,
       {},
       R"(systems/x.yaml:3:3: `host` has no key `colour`. Its keys are cpu, llc, dram, dma, mmu.
    3 |   colour: red
      |   ^~~~~~)"},
      {"KeyOfAnotherSection",
       "base: base\n"
       "l2:\n"
       "  size: 4MiB\n"sv,
       {},
       R"(systems/x.yaml:2:1: a system has no key `l2`. Did you mean `gpu.l2`?
    2 | l2:
      | ^~)"},
      {"PathInAFile",
       "base: base\n"
       "gpu.l2.size: 4MiB\n"sv,
       {},
       R"(systems/x.yaml:2:1: `gpu.l2.size` is a path for --set; in a file its parts are nested keys.
    2 | gpu.l2.size: 4MiB
      | ^~~~~~~~~~~)"},
      {"MisspelledFileKey",
       "bas: base\n"sv,
       {},
       R"(systems/x.yaml:1:1: a system has no key `bas`. Did you mean `base`?
    1 | bas: base
      | ^~~)"},
      {"MappingForAValue",
       "base: base\n"
       "gpu:\n"
       "  clock: {value: 1GHz}\n"sv,
       {},
       R"(systems/x.yaml:3:10: `gpu.clock` takes a frequency, 1MHz to 10GHz: a mapping is no value.
    3 |   clock: {value: 1GHz}
      |          ^)"},
      {"ListForAValue",
       "base: base\n"
       "gpus: [4]\n"sv,
       {},
       R"(systems/x.yaml:2:7: `gpus` takes a whole number, 1 to 1024: a list is no value.
    2 | gpus: [4]
      |       ^)"},
      {"ValueForASection",
       "base: base\n"
       "boundary: ring\n"sv,
       {},
       R"(systems/x.yaml:2:11: `boundary` is a section, not a value; its keys are write_back, l1, l2, markers.
    2 | boundary: ring
      |           ^~~~)"},
      {"NothingForASection",
       "base: base\n"
       "boundary:\n"
       "gpus: 2\n"sv,
       {},
       R"(systems/x.yaml:2:1: `boundary` is a section, not a value; its keys are write_back, l1, l2, markers.
    2 | boundary:
      | ^~~~~~~~)"},
      {"ListForASection",
       "base: base\n"
       "boundary: [ring]\n"sv,
       {},
       R"(systems/x.yaml:2:11: `boundary` is a section, not a value; its keys are write_back, l1, l2, markers.
    2 | boundary: [ring]
      |           ^)"},
      {"NothingForAValue",
       "base: base\n"
       "gpus:\n"sv,
       {},
       R"(systems/x.yaml:2:1: `gpus` takes a whole number, 1 to 1024: there is no value.
    2 | gpus:
      | ^~~~)"},
      {"DecimalSize",
       "base: base\n"
       "gpu:\n"
       "  l2:\n"
       "    size: 4MB\n"sv,
       {},
       R"(systems/x.yaml:4:11: `gpu.l2.size` takes a size, 64B to 1GiB: `MB` is not a unit here, because sizes are powers of 1024. Did you mean `4MiB`?
    4 |     size: 4MB
      |           ^~~)"},
      {"UnknownSizeUnit",
       "base: base\n"
       "gpu:\n"
       "  l2: {size: 4mib}\n"sv,
       {},
       R"(systems/x.yaml:3:14: `gpu.l2.size` takes a size, 64B to 1GiB: `mib` is not a unit here. Did you mean `MiB`?
    3 |   l2: {size: 4mib}
      |              ^~~~)"},
      {"SizeInNs",
       "base: base\n"
       "gpu:\n"
       "  l2: {size: 4ns}\n"sv,
       {},
       R"(systems/x.yaml:3:14: `gpu.l2.size` takes a size, 64B to 1GiB: `ns` is not one of the units B, KiB, MiB, GiB, TiB.
    3 |   l2: {size: 4ns}
      |              ^~~)"},
      {"HalfAByte",
       "base: base\n"
       "link: {header: 0.5}\n"sv,
       {},
       R"(systems/x.yaml:2:16: `link.header` takes a size, 0B to 4KiB: `0.5` is not a whole number of bytes.
    2 | link: {header: 0.5}
      |                ^~~)"},
      {"BinaryBandwidth",
       "base: base\n"
       "link:\n"
       "  bandwidth: 32GiB/s\n"sv,
       {},
       R"(systems/x.yaml:3:14: `link.bandwidth` takes a bandwidth, 1MB/s to 100TB/s: `GiB/s` is not a unit here, because rates are bytes a second in powers of 1000. Did you mean `32GB/s`?
    3 |   bandwidth: 32GiB/s
      |              ^~~~~~~)"},
      {"BandwidthWithoutUnit",
       "base: base\n"
       "link:\n"
       "  bandwidth: 32\n"sv,
       {},
       R"(systems/x.yaml:3:14: `link.bandwidth` takes a bandwidth, 1MB/s to 100TB/s: `32` has no unit; the units are B/s, kB/s, MB/s, GB/s, TB/s, B/cycle.
    3 |   bandwidth: 32
      |              ^~)"},
      {"BandwidthWithoutTime",
       "base: base\n"
       "link:\n"
       "  bandwidth: 32GB\n"sv,
       {},
       R"(systems/x.yaml:3:14: `link.bandwidth` takes a bandwidth, 1MB/s to 100TB/s: `GB` is not a unit here, because rates are bytes a second in powers of 1000. Did you mean `32GB/s`?
    3 |   bandwidth: 32GB
      |              ^~~~)"},
      {"BitsPerSecond",
       "base: base\n"
       "link: {bandwidth: 256Gb/s}\n"sv,
       {},
       R"(systems/x.yaml:2:19: `link.bandwidth` takes a bandwidth, 1MB/s to 100TB/s: `Gb/s` is not a unit here. Did you mean `GB/s`?
    2 | link: {bandwidth: 256Gb/s}
      |                   ^~~~~~~)"},
      {"BandwidthThatIsNotWhole",
       "base: base\n"
       "link: {bandwidth: 0.3333333333B/cycle}\n"sv,
       {},
       R"(systems/x.yaml:2:19: `link.bandwidth` takes a bandwidth, 1MB/s to 100TB/s: `0.3333333333B/cycle` is not a whole number of bytes a second.
    2 | link: {bandwidth: 0.3333333333B/cycle}
      |                   ^~~~~~~~~~~~~~~~~~~)"},
      {"FrequencyWithoutUnit",
       "base: base\n"
       "gpu: {clock: 1000000000}\n"sv,
       {},
       R"(systems/x.yaml:2:14: `gpu.clock` takes a frequency, 1MHz to 10GHz: `1000000000` has no unit; the units are Hz, kHz, MHz, GHz.
    2 | gpu: {clock: 1000000000}
      |              ^~~~~~~~~~)"},
      {"UnknownFrequencyUnit",
       "base: base\n"
       "gpu: {clock: 1Ghz}\n"sv,
       {},
       R"(systems/x.yaml:2:14: `gpu.clock` takes a frequency, 1MHz to 10GHz: `Ghz` is not a unit here. Did you mean `GHz`?
    2 | gpu: {clock: 1Ghz}
      |              ^~~~)"},
      {"HalfACycle",
       "base: base\n"
       "link: {latency: 1.5}\n"sv,
       {},
       R"(systems/x.yaml:2:17: `link.latency` takes a time in cycles, 1 to 1000000: `1.5` is not a whole number of cycles.
    2 | link: {latency: 1.5}
      |                 ^~~)"},
      {"UnknownTimeUnit",
       "base: base\n"
       "link: {latency: 300nsec}\n"sv,
       {},
       R"(systems/x.yaml:2:17: `link.latency` takes a time in cycles, 1 to 1000000: `nsec` is not one of the units ps, ns, us, ms, s, cycles.
    2 | link: {latency: 300nsec}
      |                 ^~~~~~~)"},
      {"Negative",
       "base: base\n"
       "link: {latency: -1}\n"sv,
       {},
       R"(systems/x.yaml:2:17: `link.latency` takes a time in cycles, 1 to 1000000: `-1` is negative.
    2 | link: {latency: -1}
      |                 ^~)"},
      {"Separators",
       "base: base\n"
       "watchdog: {cycles: 5_000_000}\n"sv,
       {},
       R"(systems/x.yaml:2:20: `watchdog.cycles` takes a time in cycles, 0 to 1000000000000: `5_000_000` has a separator between its digits; write the digits alone.
    2 | watchdog: {cycles: 5_000_000}
      |                    ^~~~~~~~~)"},
      {"NotANumber",
       "base: base\n"
       "gpus: four\n"sv,
       {},
       R"(systems/x.yaml:2:7: `gpus` takes a whole number, 1 to 1024: `four` is not a number.
    2 | gpus: four
      |       ^~~~)"},
      {"Fraction",
       "base: base\n"
       "gpus: 4.5\n"sv,
       {},
       R"(systems/x.yaml:2:7: `gpus` takes a whole number, 1 to 1024: `4.5` is not a whole number.
    2 | gpus: 4.5
      |       ^~~)"},
      {"Hexadecimal",
       "base: base\n"
       "gpus: 0x10\n"sv,
       {},
       R"(systems/x.yaml:2:7: `gpus` takes a whole number, 1 to 1024: `0x10` is not a whole number.
    2 | gpus: 0x10
      |       ^~~~)"},
      {"TooManyDigits",
       "base: base\n"
       "gpus: 123456789012345678901234567890\n"sv,
       {},
       R"(systems/x.yaml:2:7: `gpus` takes a whole number, 1 to 1024: `123456789012345678901234567890` has too many digits.
    2 | gpus: 123456789012345678901234567890
      |       ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~)"},
      {"TooLarge",
       "base: base\n"
       "gpu: {dram: {capacity: 99999999999999TiB}}\n"sv,
       {},
       R"(systems/x.yaml:2:24: `gpu.dram.capacity` takes a size, 1MiB to 64GiB: `99999999999999TiB` is too large.
    2 | gpu: {dram: {capacity: 99999999999999TiB}}
      |                        ^~~~~~~~~~~~~~~~~)"},
      {"OutOfRange",
       "base: base\n"
       "gpus: 1025\n"sv,
       {},
       R"(systems/x.yaml:2:7: `gpus` takes a whole number, 1 to 1024: `1025` is out of range.
    2 | gpus: 1025
      |       ^~~~)"},
      {"ZeroGpus",
       "base: base\n"
       "gpus: 0\n"sv,
       {},
       R"(systems/x.yaml:2:7: `gpus` takes a whole number, 1 to 1024: `0` is out of range.
    2 | gpus: 0
      |       ^)"},
      {"SizeOutOfRange",
       "base: base\n"
       "host: {dram: {capacity: 128GiB}}\n"sv,
       {},
       R"(systems/x.yaml:2:25: `host.dram.capacity` takes a size, 1MiB to 64GiB: `128GiB` is out of range.
    2 | host: {dram: {capacity: 128GiB}}
      |                         ^~~~~~)"},
      {"RangeAfterTheClock",
       "base: base\n"
       "link: {latency: 0.4ns}\n"sv,
       {},
       R"(systems/x.yaml:2:17: `link.latency` takes a time in cycles, 1 to 1000000: `0.4ns`, which is 0 cycles, is out of range.
    2 | link: {latency: 0.4ns}
      |                 ^~~~~)"},
      {"NotAPowerOfTwo",
       "base: base\n"
       "gpu: {l2: {banks: 12}}\n"sv,
       {},
       R"(systems/x.yaml:2:19: `gpu.l2.banks` takes a whole number, a power of two, 1 to 64: `12` is not a power of two.
    2 | gpu: {l2: {banks: 12}}
      |                   ^~)"},
      {"NeitherOfTwo",
       "base: base\n"
       "gpu: {wavefront: 48}\n"sv,
       {},
       R"(systems/x.yaml:2:18: `gpu.wavefront` takes 32 or 64: `48` is none of them.
    2 | gpu: {wavefront: 48}
      |                  ^~)"},
      {"WrongLine",
       "base: base\n"
       "gpu: {line: 32}\n"sv,
       {},
       R"(systems/x.yaml:2:13: `gpu.line` takes 64B or 128B: `32`, which is 32B, is none of them.
    2 | gpu: {line: 32}
      |             ^~)"},
      {"UnknownChoice",
       "base: base\n"
       "link: {topology: pcie_three}\n"sv,
       {},
       R"(systems/x.yaml:2:18: `link.topology` takes switch, all-to-all, ring, pcie-tree or fat-tree: `pcie_three` is none of them. Did you mean `pcie-tree`?
    2 | link: {topology: pcie_three}
      |                  ^~~~~~~~~~)"},
      {"ChoiceWithNothingNear",
       "base: base\n"
       "link: {topology: mesh}\n"sv,
       {},
       R"(systems/x.yaml:2:18: `link.topology` takes switch, all-to-all, ring, pcie-tree or fat-tree: `mesh` is none of them.
    2 | link: {topology: mesh}
      |                  ^~~~)"},
      {"YesForTrue",
       "base: base\n"
       "boundary: {write_back: yes}\n"sv,
       {},
       R"(systems/x.yaml:2:24: `boundary.write_back` takes true or false: write `true` for `yes`.
    2 | boundary: {write_back: yes}
      |                        ^~~)"},
      {"UnknownFlag",
       "base: base\n"
       "boundary: {write_back: ture}\n"sv,
       {},
       R"(systems/x.yaml:2:24: `boundary.write_back` takes true or false: `ture` is none of them. Did you mean `true`?
    2 | boundary: {write_back: ture}
      |                        ^~~~)"},
      {"LongValue",
       "base: base\n"
       "gpus: 9999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999\n"sv,
       {},
       R"(systems/x.yaml:2:7: `gpus` takes a whole number, 1 to 1024: this is too long for a value.
    2 | gpus: 9999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999
      |       ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~)"},
      {"MissingBase",
       "base: bass\n"
       "gpus: 4\n"sv,
       {},
       R"(systems/x.yaml:1:7: there is no system `bass` to inherit from. Did you mean `base`?
    1 | base: bass
      |       ^~~~)"},
      {"MissingBaseFile",
       "base: other.yaml\n"
       "gpus: 4\n"sv,
       {},
       R"(systems/x.yaml:1:7: there is no file `other.yaml` to inherit from.
    1 | base: other.yaml
      |       ^~~~~~~~~~)"},
      {"BaseThatIsAList",
       "base: [base]\n"sv,
       {},
       R"(systems/x.yaml:1:7: `base` takes a text.
    1 | base: [base]
      |       ^)"},
      {"AbstractThatIsANumber",
       "base: base\n"
       "abstract: 1\n"sv,
       {},
       R"(systems/x.yaml:2:11: `abstract` takes true or false.
    2 | abstract: 1
      |           ^)"},
      {"EmptyDescription",
       "base: base\n"
       "description:\n"sv,
       {},
       R"(systems/x.yaml:2:1: `description` takes a text.
    2 | description:
      | ^~~~~~~~~~~)"},
      {"Abstract",
       "abstract: true\n"
       "gpus: 4\n"sv,
       {},
       R"(systems/x.yaml:1:11: `x` is only a base for other systems and cannot be run alone.
    1 | abstract: true
      |           ^~~~)"},
      {"SecondLine",
       "base: base\n"
       "# a comment\n"
       "\n"
       "gpu:\n"
       "  cu:\n"
       "    simds: 1000   # too many\n"sv,
       {},
       R"(systems/x.yaml:6:12: `gpu.cu.simds` takes a whole number, 1 to 64: `1000` is out of range.
    6 |     simds: 1000   # too many
      |            ^~~~)"},
      {"WideCharacters",
       "description: größer\n"
       "gpus: größer\n"sv,
       {},
       R"(systems/x.yaml:2:7: `gpus` takes a whole number, 1 to 1024: `größer` is not a number.
    2 | gpus: größer
      |       ^~~~~~)"},
      {"OverrideWithoutValue",
       "base: base\n"sv,
       {"gpu.l2.size"},
       R"(--set: an override is a path, `=` and a value, such as `gpu.l2.size=4MiB`.
  gpu.l2.size
  ^~~~~~~~~~~)"},
      {"OverrideWithoutPath",
       "base: base\n"sv,
       {"=4MiB"},
       R"(--set: an override is a path, `=` and a value, such as `gpu.l2.size=4MiB`.
  =4MiB
  ^~~~~)"},
      {"EmptyOverride",
       "base: base\n"sv,
       {""},
       R"(--set: an override is a path, `=` and a value, such as `gpu.l2.size=4MiB`.

  ^)"},
      {"OverrideOfASection",
       "base: base\n"sv,
       {"host=4MiB"},
       R"(--set: `host` is a section, not a value; its keys are cpu, llc, dram, dma, mmu.
  host=4MiB
  ^~~~)"},
      {"OverrideInsideAValue",
       "base: base\n"sv,
       {"gpu.clock.hertz=5"},
       R"(--set: `gpu.clock` is a value, not a section; nothing is inside it.
  gpu.clock.hertz=5
           ^~~~~~)"},
      {"OverrideUnknownKey",
       "base: base\n"sv,
       {"gpu.l3.size=4MiB"},
       R"(--set: `gpu` has no key `l3`. Did you mean `l2`?
  gpu.l3.size=4MiB
      ^~)"},
      {"OverrideUnknownLeaf",
       "base: base\n"sv,
       {"gpu.l2.latency=4"},
       R"(--set: `gpu.l2` has no key `latency`. Did you mean `tag_latency`?
  gpu.l2.latency=4
         ^~~~~~~)"},
      {"OverrideBadUnit",
       "base: base\n"sv,
       {"gpu.l2.size=4MB"},
       R"(--set: `gpu.l2.size` takes a size, 64B to 1GiB: `MB` is not a unit here, because sizes are powers of 1024. Did you mean `4MiB`?
  gpu.l2.size=4MB
              ^~~)"},
      {"OverrideOutOfRange",
       "base: base\n"sv,
       {"gpus=4", "gpus=2000"},
       R"(--set: `gpus` takes a whole number, 1 to 1024: `2000` is out of range.
  gpus=2000
       ^~~~)"},
      {"OverrideBadChoice",
       "base: base\n"sv,
       {"link.topology=swich"},
       R"(--set: `link.topology` takes switch, all-to-all, ring, pcie-tree or fat-tree: `swich` is none of them. Did you mean `switch`?
  link.topology=swich
                ^~~~~)"},
      {"OverrideEmptyValue",
       "base: base\n"sv,
       {"gpus="},
       R"(--set: `gpus` takes a whole number, 1 to 1024: there is no value.
  gpus=
       ^)"},
      {"OverrideWithSpaces",
       "base: base\n"sv,
       {"gpus = 4"},
       R"(--set: a system has no key `gpus `. Did you mean `gpus`?
  gpus = 4
  ^~~~~)"},
      {"OverrideEmptyKey",
       "base: base\n"sv,
       {"host..size=4"},
       R"(--set: a key is missing; those of `host` are cpu, llc, dram, dma, mmu.
  host..size=4
       ^)"},
      {"OverrideNotUtf8",
       "base: base\n"sv,
       {"gpus=\xff"},
       R"(--set: the byte 0xff is not UTF-8; texts are read as UTF-8.
  gpus=?
       ^)"},
      {"TlbSets",
       "base: base\n"sv,
       {"gpu.l2_tlb.entries=100"},
       R"(--set: `gpu.l2_tlb.entries` must be a multiple of its ways, or 0 for no limit.
  gpu.l2_tlb.entries=100
                     ^~~
  gpu.l2_tlb.entries = 100 (--set)
  gpu.l2_tlb.ways = 16 (default))"},
      {"SharedVirtualMemoryOfFourGpus",
       "base: base\n"sv,
       {"translation.kind=svm"},
       R"(--set: translation.kind `svm` is one GPU beside its host: set gpus=1.
  translation.kind=svm
                   ^~~
  gpus = 4 (systems/base.yaml:2:7)
  translation.kind = svm (--set))"},
      {"MovingPagesWithoutPageTables",
       "base: base\n"sv,
       {"placement.policy=on-touch"},
       R"(--set: mapped pages move only where GPUs have page tables of their own: `placement.policy` other than `pinned` needs translation.kind `mmu`, or, for `first-touch`, `ats`.
  placement.policy=on-touch
                   ^~~~~~~~
  placement.policy = on-touch (--set)
  translation.kind = ideal (default))"},
      {"PageSize",
       "base: base\n"sv,
       {"page.size=64K"},
       R"(--set: `page.size: 64K` needs translation.kind `mig`: other systems have pages of 4K or 2M.
  page.size=64K
            ^~~
  page.size = 64K (--set)
  translation.kind = ideal (default))"},
      {"PageSizeInBytes",
       "base: base\n"sv,
       {"page.size=2MiB"},
       R"(--set: `page.size` takes 4K, 64K or 2M: `2MiB` is none of them. Did you mean `2M`?
  page.size=2MiB
            ^~~~)"},
      {"L1Sets",
       "base: base\n"sv,
       {"gpu.l1v.size=10000", "gpu.l1v.ways=2"},
       R"(--set: `gpu.l1v.size` must be a multiple of ways × line = 128B.
  gpu.l1v.size=10000
               ^~~~~
  gpu.l1v.size = 10000B (--set)
  gpu.l1v.ways = 2 (--set)
  gpu.line = 64B (default))"},
      {"L2Sets",
       "base: base\n"sv,
       {"gpu.l2.size=100KiB"},
       R"(--set: `gpu.l2.size` must be a multiple of ways × line × banks = 16KiB.
  gpu.l2.size=100KiB
              ^~~~~~
  gpu.l2.size = 100KiB (--set)
  gpu.l2.ways = 16 (systems/base.yaml:5:14)
  gpu.line = 64B (default)
  gpu.l2.banks = 16 (systems/base.yaml:5:25))"},
      {"L2SetsInAFile",
       "base: base\n"
       "gpu:\n"
       "  line: 128\n"
       "  l2:\n"
       "    size: 24KiB\n"sv,
       {},
       R"(systems/x.yaml:5:11: `gpu.l2.size` must be a multiple of ways × line × banks = 32KiB.
    5 |     size: 24KiB
      |           ^~~~~
  gpu.l2.size = 24KiB (systems/x.yaml:5:11)
  gpu.l2.ways = 16 (systems/base.yaml:5:14)
  gpu.line = 128B (systems/x.yaml:3:9)
  gpu.l2.banks = 16 (systems/base.yaml:5:25))"},
      {"HostCacheSets",
       "base: base\n"sv,
       {"host.llc.ways=12"},
       R"(--set: `host.llc.size` must be a multiple of ways × line × banks = 3KiB.
  host.llc.ways=12
                ^~
  host.llc.size = 2MiB (default)
  host.llc.ways = 12 (--set)
  gpu.line = 64B (default)
  host.llc.banks = 4 (default))"},
      {"TagsTooShort",
       "base: base\n"sv,
       {"gpu.l1s.size=256B"},
       R"(--set: `gpu.l1s` has too few sets to tell the lines of so much memory apart: a tag has 32 bits.
  gpu.l1s.size=256B
               ^~~~
  gpu.l1s.size = 256B (--set)
  gpu.l1s.ways = 4 (default)
  gpu.dram.capacity = 4GiB (default)
  host.dram.capacity = 8GiB (default))"},
      {"LanesDivideTheWavefront",
       "base: base\n"sv,
       {"gpu.wavefront=32", "gpu.cu.simd_lanes=64"},
       R"(--set: `gpu.cu.simd_lanes` must divide `gpu.wavefront`.
  gpu.cu.simd_lanes=64
                    ^~
  gpu.cu.simd_lanes = 64 (--set)
  gpu.wavefront = 32 (--set))"},
      {"ComputeUnits",
       "base: base\n"sv,
       {"gpu.shader_arrays=64", "gpu.cus_per_array=32"},
       R"(--set: a GPU has at most 1024 compute units, and shader_arrays × cus_per_array = 2048.
  gpu.shader_arrays=64
                    ^~
  gpu.shader_arrays = 64 (--set)
  gpu.cus_per_array = 32 (--set))"},
      {"WaveSlots",
       "base: base\n"sv,
       {"gpu.cu.simds=8"},
       R"(--set: a compute unit holds at most 64 wavefronts, and simds × waves_per_simd = 80.
  gpu.cu.simds=8
               ^
  gpu.cu.simds = 8 (--set)
  gpu.cu.waves_per_simd = 10 (default))"},
      {"RowOfLines",
       "base: base\n"sv,
       {"gpu.dram.row=64", "gpu.line=128"},
       R"(--set: `gpu.dram.row` must be a multiple of the line.
  gpu.dram.row=64
               ^~
  gpu.dram.row = 64B (--set)
  gpu.line = 128B (--set))"},
      {"CapacityOfFrames",
       "base: base\n"sv,
       {"gpu.dram.capacity=1048577"},
       R"(--set: `gpu.dram.capacity` must be a multiple of the 4KiB frame.
  gpu.dram.capacity=1048577
                    ^~~~~~~
  gpu.dram.capacity = 1048577B (--set))"},
      {"CapacityOfRows",
       "base: base\n"sv,
       {"host.dram.capacity=1MiB", "host.dram.channels=8"},
       R"(--set: `host.dram.capacity` must be at least one row in every bank, which is 2MiB.
  host.dram.capacity=1MiB
                     ^~~~
  host.dram.capacity = 1MiB (--set)
  host.dram.channels = 8 (--set)
  host.dram.ranks = 2 (standard ddr4-2400)
  host.dram.banks = 16 (standard ddr4-2400)
  host.dram.row = 8KiB (standard ddr4-2400))"},
      {"DrainEndsBelowItsStart",
       "base: base\n"sv,
       {"gpu.dram.write_low=48"},
       R"(--set: `gpu.dram.write_low` must be less than `gpu.dram.write_high`.
  gpu.dram.write_low=48
                     ^~
  gpu.dram.write_low = 48 (--set)
  gpu.dram.write_high = 48 (default))"},
      {"DrainStartsInTheQueue",
       "base: base\n"sv,
       {"gpu.dram.write_queue=40"},
       R"(--set: `gpu.dram.write_high` must be at most `gpu.dram.write_queue`.
  gpu.dram.write_queue=40
                       ^~
  gpu.dram.write_high = 48 (default)
  gpu.dram.write_queue = 40 (--set))"},
      {"RowOpenLongEnough",
       "base: base\n"sv,
       {"gpu.dram.t_rcd=50ns"},
       R"(--set: `gpu.dram.t_ras` must be at least `gpu.dram.t_rcd`: a row is read before it is closed.
  gpu.dram.t_rcd=50ns
                 ^~~~
  gpu.dram.t_ras = 34 (standard hbm)
  gpu.dram.t_rcd = 50 (--set))"},
      {"FourActivates",
       "base: base\n"sv,
       {"host.dram.t_faw=1"},
       R"(--set: `host.dram.t_faw` must be at least `host.dram.t_rrd`: four activates take longer than two.
  host.dram.t_faw=1
                  ^
  host.dram.t_faw = 1 (--set)
  host.dram.t_rrd = 5 (standard ddr4-2400))"},
      {"RefreshAlways",
       "base: base\n"sv,
       {"gpu.dram.refresh=true", "gpu.dram.t_rfc=4us"},
       R"(--set: `gpu.dram.t_refi` must exceed `gpu.dram.t_rfc`: else memory does nothing but refresh.
  gpu.dram.t_rfc=4us
                 ^~~
  gpu.dram.t_refi = 3900 (standard hbm)
  gpu.dram.t_rfc = 4000 (--set)
  gpu.dram.refresh = true (--set))"},
      {"RefreshBeforeAllRowsAreOpen",
       "base: base\n"sv,
       {"gpu.dram.refresh=true", "gpu.dram.t_refi=372"},
       R"(--set: `gpu.dram.t_refi` must exceed the 372 cycles of a refresh and of opening a row in every bank after it: else memory does nothing but refresh.
  gpu.dram.t_refi=372
                  ^~~
  gpu.dram.t_refi = 372 (--set)
  gpu.dram.t_rfc = 260 (standard hbm)
  gpu.dram.t_rp = 14 (standard hbm)
  gpu.dram.t_ras = 34 (standard hbm)
  gpu.dram.t_rrd = 4 (standard hbm)
  gpu.dram.t_faw = 16 (standard hbm)
  gpu.dram.banks = 16 (standard hbm)
  gpu.dram.refresh = true (--set))"},
      {"Watchdog",
       "base: base\n"sv,
       {"watchdog.cycles=1000", "link.latency=1us"},
       R"(--set: `watchdog.cycles` must exceed `link.latency`: else every remote access looks stuck.
  watchdog.cycles=1000
                  ^~~~
  watchdog.cycles = 1000 (--set)
  link.latency = 1000 (--set))"},
      {"LongKey",
       "base: base\n"
       "host:\n"
       "  kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkééé: 4\n"sv,
       {},
       R"(systems/x.yaml:3:3: `host` has no key `kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk…`. Its keys are cpu, llc, dram, dma, mmu.
    3 |   kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkééé: 4
      |   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~)"},
      {"EscapeSequenceInAValue",
       "base: base\n"
       "gpus: \"\\x1b[31m4\"\n"sv,
       {},
       R"(systems/x.yaml:2:8: `gpus` takes a whole number, 1 to 1024: `?[31m4` is not a number.
    2 | gpus: "\x1b[31m4"
      |        ^~~~~~~~~)"},
      {"TimeTooLarge",
       "base: base\n"
       "link: {latency: 99999999s}\n"sv,
       {},
       R"(systems/x.yaml:2:17: `link.latency` takes a time in cycles, 1 to 1000000: `99999999s` is too large.
    2 | link: {latency: 99999999s}
      |                 ^~~~~~~~~)"},
      {"NullGpus",
       "base: base\n"
       "gpus: null\n"sv,
       {},
       R"(systems/x.yaml:2:7: `gpus` takes a whole number, 1 to 1024: `null` is not a number.
    2 | gpus: null
      |       ^~~~)"},
      {"LongLine",
       "base: base\n"
       "link: {latency: 10, header: 16B, bandwidth: 32GB/s, credits: 128, queue: 256, switch_latency: 100, topology: rign} # and a long comment that goes on and on\n"sv,
       {},
       R"(systems/x.yaml:2:110: `link.topology` takes switch, all-to-all, ring, pcie-tree or fat-tree: `rign` is none of them. Did you mean `ring`?
    2 | : 128, queue: 256, switch_latency: 100, topology: rign} # and a long comment that goes on and on
      |                                                   ^~~~)"},
  };
  return kConfigs;
}

/// gtest prints parameters as bytes otherwise, and some of these are not text.
void PrintTo(const BadConfig& config, std::ostream* out) { *out << config.name; }

class BadConfigs : public testing::TestWithParam<BadConfig> {};

TEST_P(BadConfigs, GetsItsMessage) {
  const TempSystems systems;
  systems.write("base", kBase);
  systems.write("x", GetParam().yaml);
  EXPECT_EQ(failure("x", GetParam().overrides), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(All, BadConfigs, testing::ValuesIn(bad_configs()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace nearfar::bad_configs_test
