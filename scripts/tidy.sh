#!/usr/bin/env bash
# Runs clang-tidy over the tree, or over what differs from a revision:
#   scripts/tidy.sh                all sources, and the headers they include
#   scripts/tidy.sh --since REV    the sources and headers that differ from REV
# The release preset says how each is compiled; its generated and precompiled
# headers are made if need be. Prints the findings, or one line if there are
# none. Exit code 0: clean; 1: findings; 2: expects other arguments.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$PWD/build/release
pch=lib/IR/CMakeFiles/SmpIR.dir/cmake_pch.hxx.pch
if [ $# = 0 ]; then
  list=(git ls-files -z)
elif [ $# = 2 ] && [ "$1" = --since ]; then
  git rev-parse -q --verify "$2^{commit}" >/dev/null ||
    { echo "error: expects a revision after --since, got '$2'" >&2; exit 2; }
  list=(git diff -z --name-only --diff-filter=d "$2")
else
  echo "error: expects no arguments or --since REV, got '$*'" >&2
  exit 2
fi
# A header is looked at on its own only if it changed: else its sources show it.
patterns=('*.cpp'); [ $# = 0 ] || patterns+=('*.h')
mapfile -d '' files < <("${list[@]}" -- "${patterns[@]}")
# How a header is compiled is guessed from the source of its name: without one,
# a source that includes it is looked at.
for i in "${!files[@]}"; do
  stem=$(basename "${files[i]}" .h)
  [[ ${files[i]} == *.h && -z $(git ls-files "*/$stem.cpp") ]] || continue
  mapfile -t includers < <(git grep -lE "#include \"(.*/)?$stem\.h\"" -- '*.cpp')
  files[i]=${includers[0]:-${files[i]}}
done

cmake --preset release >/dev/null
nice ninja -C "$build" smp-headers "$pch" >/dev/null

# The output of one file at a time. Generated headers count as the system's:
# nothing in them is ours to mend, and to skip them takes a third of the time.
check() {
  local found
  found=$(nice clang-tidy-22 --quiet -p "$1" --extra-arg=-isystem"$1/include" "$2" 2>&1) ||
    { printf '%s\n' "$found"; return 1; }
}
export -f check
[ ${#files[@]} = 0 ] ||
  printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -I{} bash -c 'check "$@"' _ "$build" {} ||
  { echo "error: expects no findings of clang-tidy-22, got those above" >&2; exit 1; }
echo "clang-tidy: ${#files[@]} files are clean"
