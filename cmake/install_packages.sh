#!/usr/bin/env bash
# install_packages.sh PACKAGE...: installs Debian packages, as root, without starting or enabling any service that comes
# with them. While apt-get works, /usr/sbin/policy-rc.d forbids to start services; afterwards it is as it was, and the
# links by which packages enable their services are taken away again.
# NEARFAR_INSTALL_ROOT is a folder to treat as /, for tests.
set -euo pipefail
top=${NEARFAR_INSTALL_ROOT:-}
policy=$top/usr/sbin/policy-rc.d
kept=$policy.before-nearfar

# Links that start something with the machine: of systemd, and of System V.
service_links() {
  find "$top"/etc/systemd/system "$top"/etc/systemd/user "$top"/etc/rc[2-5S].d -type l 2>/dev/null |
    grep -v '/rc[2-5S]\.d/K' | sort || true
}

restore_policy() {
  rm -f "$policy"
  if [[ -e $kept || -L $kept ]]; then mv "$kept" "$policy"; fi
}

forget_services() {
  local link
  while read -r link; do
    rm -f "$link"
    rmdir --ignore-fail-on-non-empty "$(dirname "$link")"
  done < <(comm -13 <(printf '%s\n' "$links_before") <(service_links))
}

finish() {
  restore_policy
  forget_services
}

if [[ -e $kept || -L $kept ]]; then restore_policy; fi # an earlier installation was killed
links_before=$(service_links)
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
if [[ -e $policy || -L $policy ]]; then mv "$policy" "$kept"; fi
printf '#!/bin/sh\nexit 101\n' >"$policy"
chmod 755 "$policy"
# --no-remove: set-up must never take away something the user has.
DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends --no-remove "$@"
