#!/bin/sh
# What most loops do: code-in-place.sh AGENT TASK... in the repository.
# The agent works in the folder itself, one task after the other; the tests are run once. Nothing is kept apart, nothing merged.
set -eu
agent=$1
shift
for task in "$@"; do
  printf 'Task %s: Write %s.txt\n' "$task" "$task" | node "$agent"
  node --test >/dev/null 2>&1
  git add -A
  git commit -q -m "Write $task.txt"
done
