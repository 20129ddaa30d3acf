#!/usr/bin/env bash
# What an access costs, in counts that repeat where times do not: instructions, and misses of the host's caches as
# callgrind models them, with first levels of 32 KiB and a last one of 512 KiB, which is what a core has to itself.
#   bench/counts.sh PROGRAM [runs…]     of a program, such as build/counts/nearfar: of all runs below, or those named
# ./test counts builds a program for it first. Profiles stay in build/counts/profiles/, for callgrind_annotate.
#
# Valgrind does not know every instruction of every processor: a program that was built for this machine's own may end
# with "unrecognised instruction". The one that ./test counts builds is for x86-64-v3.
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")

fail() {
  printf 'counts: error: %s\n' "$*" >&2
  exit 2
}

# Of each run its name and the arguments of `nearfar run`. What is not small is shortened to some minutes.
runs=(
  "mt:MT --size small --system ideal-4gpu"
  "st:ST --size medium --param rows=2050 --param columns=2050 --param iterations=1 --system ideal-4gpu"
  "mt-mmu:MT --size small --system mmu-4gpu"
  "pr-counters:PR --size small --system mmu-4gpu-counters"
  "mt-64:MT --size small --system ideal-64gpu"
)

program=${1:-}
[[ -x $program ]] || fail "'$program' is no program; give one, such as build/counts/nearfar"
command -v valgrind >/dev/null || fail "valgrind is not installed"
wanted=("${@:2}")
for name in "${wanted[@]}"; do
  [[ " ${runs[*]%%:*} " == *" $name "* ]] || fail "there is no run '$name'; there are ${runs[*]%%:*}"
done

# The sum of some columns of a profile's totals, by the names that its `events:` line gives them.
total() {
  awk -v names="$2" '
    /^events:/ { for (i = 2; i <= NF; i++) column[$i] = i }
    /^(summary|totals):/ {
      count = split(names, name, " ")
      for (i = 1; i <= count; i++) sum += $column[name[i]]
      printf "%.0f\n", sum
      exit
    }' "$1"
}

folder=$root/build/counts/profiles
mkdir -p "$folder"
export NEARFAR_SYSTEMS=$root/systems
printf '%-12s %10s %14s %16s %16s\n' 'an access of' accesses instructions 'misses of 32 KiB' 'beyond 512 KiB'
for run in "${runs[@]}"; do
  name=${run%%:*}
  ((${#wanted[@]} == 0)) || [[ " ${wanted[*]} " == *" $name "* ]] || continue
  read -ra arguments <<<"${run#*:}"
  profile=$folder/$name.callgrind
  valgrind --tool=callgrind --callgrind-out-file="$profile" --log-file="$folder/$name.log" \
    --cache-sim=yes --I1=32768,8,64 --D1=32768,8,64 --LL=524288,8,64 \
    "$program" run "${arguments[@]}" --threads 1 --quiet --json "$folder/$name.json" >"$folder/$name.out" 2>&1 ||
    fail "$name did not end well: $folder/$name.out and $name.log say why"
  accesses=$(grep -m1 -oP '"accesses": *\K[0-9]+' "$folder/$name.json")
  awk -v name="$name" -v accesses="$accesses" -v instructions="$(total "$profile" Ir)" \
    -v first="$(total "$profile" 'I1mr D1mr D1mw')" -v last="$(total "$profile" 'ILmr DLmr DLmw')" 'BEGIN {
      printf "%-12s %10d %14.0f %16.1f %16.1f\n", name, accesses, instructions / accesses, first / accesses,
             last / accesses
    }'
done
