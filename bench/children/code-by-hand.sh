#!/bin/sh
# What a mission does to a repository, by hand: code-by-hand.sh AGENT PARALLEL TASK... in the repository.
# Each task has a worktree of its own, where the agent works and the tests are run. What passes is merged onto the branch
# by-hand, one task after another; the tests are run again there, and what fails is taken back.
set -eu

carry_out() {
  agent=$1 task=$2 tree=.trees/$2
  git worktree add -q --detach "$tree" by-hand
  (
    cd "$tree"
    printf 'Task %s: Write %s.txt\n' "$task" "$task" | node "$agent"
    git add -A
    git commit -q -m "Write $task.txt"
    node --test >"../$task.log" 2>&1
  )
  (
    flock 9
    cd .trees/merged
    git merge -q --no-ff -m "Merge $task" "$(git -C "../$task" rev-parse HEAD)"
    node --test >"../$task-merged.log" 2>&1 || {
      git reset -q --hard HEAD^
      exit 1
    }
  ) 9>.trees/lock
  git worktree remove --force "$tree"
}

if [ "$1" = carry-out ]; then
  carry_out "$2" "$3"
  exit
fi
agent=$1 parallel=$2
shift 2
git worktree add -q -b by-hand .trees/merged
printf '%s\n' "$@" | xargs -P "$parallel" -n 1 sh "$0" carry-out "$agent"
git worktree remove --force .trees/merged
