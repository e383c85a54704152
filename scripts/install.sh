#!/usr/bin/env bash
# Installs what smp needs to build and run on Debian 12 or a current Ubuntu:
#   scripts/install.sh            compiler, libraries and tools (as root, or by sudo)
#   scripts/install.sh --python   also PyTorch and its companions, into .venv
#   scripts/install.sh --text     also the text that the demo trains on
# What is there already is left alone.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(cmake ninja-build ccache git
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22
  clang-format-22 clang-tidy-22 libclang-rt-22-dev
  libopenmpi-dev openmpi-bin libdnnl-dev nlohmann-json3-dev libgtest-dev libzstd-dev
  python3 python3-venv)
[ "${1:-}" != --text ] || packages+=(bible-kjv)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${#missing[@]} packages: ${missing[*]}"
  sudo=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "error: expects root or sudo to install packages, got neither" >&2; exit 1; }
    sudo=(sudo)
  fi
  "${sudo[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    { echo "error: expects the packages above from apt; LLVM 22 is in Debian 12's updates and in Ubuntu 26.04" >&2; exit 1; }
fi

if [ "${1:-}" = --python ]; then
  if ! [ -x .venv/bin/python ] || ! .venv/bin/python -c 'import torch, transformers, safetensors' 2>/dev/null; then
    echo "installing PyTorch into .venv (several gigabytes)"
    /usr/bin/python3 -m venv .venv
    .venv/bin/pip install -q -r python/requirements.txt
  fi
fi
