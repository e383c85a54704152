#!/usr/bin/env bash
# Trains a byte-level GPT of one million parameters on the King James Bible, on
# four ranks (two pipeline stages times two replicas), and lets it write.
#   ./demo.sh [--ranks N] [--pipeline-parallel-degree P] [--steps S]
# Installs what is missing, builds, compiles and runs; everything it makes is
# under build/demo. Defaults: 4 ranks, 2 stages, 500 steps.
set -euo pipefail
cd "$(dirname "$0")"

ranks=4 stages=2 steps=500
while [ $# -gt 0 ]; do
  case "$1" in
  -h | --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
  --ranks | --pipeline-parallel-degree | --steps | --ranks=* | --pipeline-parallel-degree=* | --steps=*)
    if [[ "$1" == *=* ]]; then option=${1%%=*} value=${1#*=}; else option=$1 value=${2:-}; [ $# -lt 2 ] || shift; fi
    [[ "$value" =~ ^[1-9][0-9]*$ ]] || { echo "error: $option expects a positive number, got '$value'" >&2; exit 2; }
    case "$option" in
    --ranks) ranks=$value ;;
    --pipeline-parallel-degree) stages=$value ;;
    --steps) steps=$value ;;
    esac ;;
  *) echo "error: expects --ranks, --pipeline-parallel-degree or --steps, got '$1'" >&2; exit 2 ;;
  esac
  shift
done
[ $((ranks % stages)) = 0 ] || { echo "error: expects --pipeline-parallel-degree to divide --ranks $ranks, got $stages" >&2; exit 2; }
replicas=$((ranks / stages))
[ $((16 % replicas)) = 0 ] || { echo "error: expects a number of replicas (ranks by stages) that divides a batch of 16, got $replicas" >&2; exit 2; }

scripts/install.sh
out=build/demo
mkdir -p "$out"
cmake --preset release >/dev/null
cmake --build --preset release --target smp-compile smp-run
bin=build/release/bin

# The text without its verse numbers: the last 64 KiB are held out.
if ! [ -s "$out/train.bin" ]; then
  command -v bible >/dev/null || scripts/install.sh --text
  bible -f "gen1:1-rev22:21" | sed 's/^[^ ]* //' >"$out/text.txt"
  head -c -65536 "$out/text.txt" >"$out/train.bin"
  tail -c 65536 "$out/text.txt" >"$out/eval.bin"
fi

# A step reads 16 windows of 64 bytes, whatever the number of ranks; each
# replica reads its share in microbatches of at least one window.
batch=$((16 / replicas)) microbatches=$((16 / replicas < 4 ? 16 / replicas : 4))
"$bin/smp-compile" test/models/data/byte-gpt.pt2 -o "$out/job" \
  --pipeline-parallel-degree="$stages" --batch-size="$batch" --microbatches="$microbatches" \
  --optimizer.lr=3e-3 --gradient-clipping=1.0 \
  --lr-schedule.name=cosine --lr-schedule.warmup_steps=50 --lr-schedule.min_lr=3e-4

rm -rf "$out/checkpoints"
"$bin/smp-run" "$out/job" --ranks "$ranks" --threads 1 --init=random --seed 1 --steps "$steps" \
  --data "$out/train.bin" --eval-data "$out/eval.bin" --eval-every $((steps < 100 ? steps : 100)) \
  --metrics "$out/metrics.jsonl" --trace "$out/trace.json" \
  --save-every "$steps" --checkpoint-dir "$out/checkpoints" \
  --generate 300 --prompt "And God said, " --temperature 0.7

echo
echo "job:        $out/job"
echo "metrics:    $out/metrics.jsonl"
echo "trace:      $out/trace.json (opens in ui.perfetto.dev)"
echo "checkpoint: $out/checkpoints"
