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

# Boost's headers from 1.81 on. Debian 12 has them in a package that conflicts with its usual Boost 1.74, which
# libboost-dev and what depends on it bring (python3-scipy, for one). Beside that one, they are unpacked to build/boost.
boost_beside=$root/build/boost
export CMAKE_PREFIX_PATH=$boost_beside/usr${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}

# The version of Boost whose headers are in a folder, such as 108100; 0 if there is none.
boost_version() {
  local version
  version=$(sed -n 's/^#define BOOST_VERSION \([0-9]*\)$/\1/p' "$1/boost/version.hpp" 2>/dev/null || true)
  printf '%s' "${version:-0}"
}

unpack_boost() {
  local folder=$boost_beside.new
  say "an older Boost is installed; unpacking the headers of 1.81 into build/boost beside it"
  rm -rf "$folder"
  mkdir -p "$folder"
  chmod 777 "$folder" # apt-get downloads as a user of its own
  (cd "$folder" && apt-get download -qq libboost1.81-dev >&2 && dpkg-deb -x libboost1.81-dev_*.deb .) ||
    fail "the package libboost1.81-dev could not be fetched with apt-get download"
  rm -rf "$folder"/libboost1.81-dev_*.deb "$boost_beside"
  chmod 755 "$folder"
  mv "$folder" "$boost_beside"
}

# Later systems than Debian 12 have another Boost than 1.81, and no package of that name: theirs will do.
# `missing` is need_packages' own.
use_boost_of_system() {
  local i
  for i in "${!missing[@]}"; do
    [[ ${missing[i]} == libboost1.81-dev ]] || continue
    # Of a name that other packages only mention it shows nothing, and is content.
    [[ -n $(apt-cache show libboost1.81-dev 2>/dev/null) ]] || missing[i]=libboost-dev
  done
}

# Installs what the given groups need and is not there.
need_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "this is not a Debian system; going on with the tools and libraries that are here (cmake/packages.txt names them)"
    return
  fi
  local -a missing=() as_root=()
  local package unpack=''
  for package in $(missing_packages "$@"); do
    if [[ $package == libboost1.81-dev ]]; then
      (($(boost_version "$boost_beside/usr/include") < 108100 && $(boost_version /usr/include) < 108100)) || continue
      [[ -e /usr/include/boost/version.hpp ]] && unpack=yes && continue
    fi
    missing+=("$package")
  done
  ((${#missing[@]})) || [[ -n $unpack ]] || return 0
  local install="apt-get install --no-install-recommends ${missing[*]}"
  if ((EUID != 0)); then
    if command -v sudo >/dev/null; then
      as_root=(sudo)
    elif ((${#missing[@]})); then
      fail "these Debian packages are missing and there is no sudo; as root, run: apt-get update && $install"
    fi
  fi
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -qq >&2 || say "apt-get update failed; going on with the package lists that are here"
  [[ -z $unpack ]] || unpack_boost
  ((${#missing[@]})) || return 0
  use_boost_of_system
  say "installing missing Debian packages: ${missing[*]}"
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
