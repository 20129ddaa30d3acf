#include "workload/suites.h"

#include <algorithm>
#include <array>
#include <utility>

namespace nearfar {

std::string_view suite_paper(std::string_view suite) {
  using namespace std::string_view_literals;
  // `REC` and `FinePack` are the programs that these studies describe themselves.
  static constexpr std::array kPapers = {
      std::pair{"AMD APP SDK"sv, "amd-app-sdk"sv}, std::pair{"DNNMark"sv, "dnnmark"sv},
      std::pair{"FinePack"sv, "finepack"sv},       std::pair{"Hetero-Mark"sv, "hetero-mark"sv},
      std::pair{"MGPUSim"sv, "mgpusim"sv},         std::pair{"Pannotia"sv, "pannotia"sv},
      std::pair{"PolyBench"sv, "polybench"sv},     std::pair{"REC"sv, "rec"sv},
      std::pair{"Rodinia"sv, "rodinia"sv},         std::pair{"SHOC"sv, "shoc"sv},
      std::pair{"Tartan"sv, "tartan"sv},
  };
  const auto found = std::ranges::find(kPapers, suite, &std::pair<std::string_view, std::string_view>::first);
  return found == kPapers.end() ? ""sv : found->second;
}

}  // namespace nearfar
