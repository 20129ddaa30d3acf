# What ./nearfar and ./test share: find and install missing Debian packages, configure and build a preset.
# Sourced, not run; `root` is set to the project's folder. Everything is said on stderr.
# shellcheck disable=SC2154

say() { printf 'nearfar: %s\n' "$*" >&2; }

fail() {
  printf 'nearfar: error: %s\n' "$*" >&2
  exit 2
}

# The packages of the given groups that are not installed, on one line.
missing_packages() {
  local -a wanted
  mapfile -t wanted < <(awk -v groups="$*" '
    BEGIN { split(groups, list, " "); for (i in list) want[list[i]] = 1 }
    $1 in want { print $2 }' "$root/cmake/packages.txt")
  { dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true; } |
    awk -v wanted="${wanted[*]}" '
      $2 == "installed" { have[$1] = 1 }
      END { count = split(wanted, list, " "); for (i = 1; i <= count; i++) if (!(list[i] in have)) print list[i] }' |
    paste -sd ' '
}

# Installs what the given groups need and is not there.
need_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "this is not a Debian system; going on with the tools and libraries that are here (cmake/packages.txt names them)"
    return
  fi
  local -a missing as_root=()
  read -ra missing < <(missing_packages "$@") || true
  ((${#missing[@]})) || return 0
  local install="apt-get install --no-install-recommends ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      fail "these Debian packages are missing and there is no sudo; as root, run: apt-get update && $install"
    as_root=(sudo)
  fi
  say "installing missing Debian packages: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -qq >&2 || say "apt-get update failed; going on with the package lists that are here"
  "${as_root[@]}" "$root/cmake/install_packages.sh" "${missing[@]}" >&2 ||
    fail "the packages could not be installed; the command was: $install"
}

# A build folder that was made for another place (the project was moved or copied) is of no use.
discard_foreign_build() {
  local cache=$root/build/$1/CMakeCache.txt
  if [[ -f $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
    rm -rf "${root:?}/build/$1"
  fi
}

# configure PRESET [cmake arguments...]: quiet unless it fails.
configure() {
  local preset=$1 log
  shift
  discard_foreign_build "$preset"
  if ! log=$(cd "$root" && cmake --preset "$preset" "$@" 2>&1); then
    printf '%s\n' "$log" >&2
    fail "cmake could not configure build/$preset"
  fi
}

# build PRESET [targets...]: a moving status line on a terminal; else silent, unless something fails.
build() {
  local preset=$1 log
  shift
  if [[ -t 2 ]]; then
    ninja -C "$root/build/$preset" "$@" >&2 || fail "the build in build/$preset failed"
  elif ! log=$(ninja -C "$root/build/$preset" --quiet "$@" 2>&1); then
    printf '%s\n' "$log" >&2
    fail "the build in build/$preset failed"
  fi
}
