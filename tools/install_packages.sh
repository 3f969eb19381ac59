#!/usr/bin/env bash
# Installs what is missing of tools/packages.txt, and nothing else.
# usage: tools/install_packages.sh [build] [grpc] [test] [soak] [dev]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
groups=("${@:-build}")

wanted() { # group → lines "alternatives<TAB>why"
  sed -nE 's/^([a-z0-9][^ #]*) +# +(.*)$/\1\t\2/p' "$root/tools/packages.txt" |
    awk -F'\t' -v group="$1" '{ kind = "build"; why = $2
      if (match(why, /^(grpc|test|soak|dev): /)) { kind = substr(why, 1, RLENGTH - 2); why = substr(why, RLENGTH + 1) }
      if (kind == group) print $1 "\t" why }'
}

lines=$(for group in "${groups[@]}"; do wanted "$group"; done | sort -u)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "This is not Debian or Ubuntu. Install these by your system's means (names as Debian has them), then run again:"
  sed 's/\t/  (/; s/$/)/; s/^/  /' <<<"$lines"
  # What is there already cannot be told; go on where the compiler and the tools exist.
  for tool in cmake ninja c++ python3; do command -v "$tool" >/dev/null || exit 3; done
  exit 0
fi

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

missing=""
while IFS=$'\t' read -r names why; do
  [ -n "$names" ] || continue
  found=
  for name in ${names//|/ }; do installed "$name" && found=1 && break; done
  [ -n "$found" ] || missing+="$names"$'\t'"$why"$'\n'
done <<<"$lines"
[ -n "$missing" ] || exit 0

echo "Packages to install:"
sed '/^$/d; s/\t/  (/; s/$/)/; s/^/  /' <<<"$missing"

as_root=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Installing needs root, and there is no sudo. As root, run:"
    echo "  apt-get install -y $(cut -f1 <<<"$missing" | sed 's/|.*//' | xargs)"
    exit 3
  fi
  as_root=(sudo)
fi

# The first alternative that this system's archive has.
choose() {
  for name in ${1//|/ }; do apt-cache show "$name" >/dev/null 2>&1 && echo "$name" && return; done
  echo "${1%%|*}"
}

"${as_root[@]}" apt-get update -qq
names=()
while IFS=$'\t' read -r alternatives _; do
  [ -n "$alternatives" ] && names+=("$(choose "$alternatives")")
done <<<"$missing"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${names[@]}"
