#!/usr/bin/env bash
# Builds smp and runs its tests:
#   ./test.sh                 everything but the large matrices
#   ./test.sh --exhaustive    the large matrices in full; writes docs/evidence
#   ./test.sh --no-install    uses what is installed; skips what lacks it
set -euo pipefail
cd "$(dirname "$0")"

install=1
export SMP_TEST_EXHAUSTIVE=0
for argument in "$@"; do
  case "$argument" in
  --exhaustive) export SMP_TEST_EXHAUSTIVE=1 SMP_TEST_EVIDENCE="$PWD/docs/evidence" ;;
  --no-install) install=0 ;;
  -h | --help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "error: expects --exhaustive or --no-install, got '$argument'" >&2; exit 2 ;;
  esac
done

[ "$install" = 0 ] || scripts/install.sh --python
command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || echo "skipped: CUDA toolkit not found, the CUDA target is not built"

# Open MPI refuses root unless told that it is meant.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

cmake --preset release >/dev/null
cmake --build --preset release
ctest --test-dir build/release --output-on-failure --timeout 1200 -j "$(nproc)"
