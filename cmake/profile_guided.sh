#!/usr/bin/env bash
# Builds nearfar with profile-guided optimization, in build/guided: once so that it writes down what it does, then, after
# some runs, by what it has written. The answers are the same bits; only the host needs fewer instructions for them.
#   cmake/profile_guided.sh [cmake arguments…]     builds build/guided/nearfar
# The runs are small ones of several kinds of workloads on every kind of translation, and take a few minutes.
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
source "$root/cmake/setup.sh"
folder=$root/build/guided

runs=(
  "MT PR FIR KM MM ST:ideal-4gpu"
  "MT PR ST:ats-4gpu"
  "MT PR FIR ST:mmu-4gpu"
  "MT PR:mmu-4gpu-counters"
  "GESUMMV MVT:svm-1gpu"
  "ST PR:rec-4gpu"
)

guided() {
  say "$2"
  configure release -B "$folder" -DNEARFAR_TESTS=OFF -DNEARFAR_BENCH=OFF -DNEARFAR_PYTHON=OFF -DNEARFAR_PGO="$1" "${@:3}"
  build guided nearfar
}

rm -rf "$folder/profile"
guided generate "building a program that counts what it does" "$@"
for run in "${runs[@]}"; do
  system=${run#*:}
  for workload in ${run%%:*}; do
    say "running $workload on $system"
    "$folder/nearfar" run "$workload" --system "$system" --size small --threads 1 --quiet
  done
done
guided use "building it by what it has counted" "$@"
say "build/guided/nearfar is ready"
