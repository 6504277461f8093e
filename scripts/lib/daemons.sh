# Starts, finds and stops the processes of a cluster. $cluster_dir/bin/NAME
# writes to $cluster_dir/log/NAME.log, and has its pid in run/NAME.pid.
# shellcheck shell=bash

# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# The components that must keep running during await().
watched=()

# pid_of NAME: prints the pid if NAME runs. Searches /proc, because a pid file
# may be lost or stale, and its pid may belong to another process.
pid_of() {
  local file program
  for file in /proc/[0-9]*/cmdline; do
    { IFS= read -r -d '' program <"$file"; } 2>/dev/null || continue
    [[ $program == "$cluster_dir/bin/$1" ]] || continue
    file=${file#/proc/}
    printf '%s\n' "${file%/cmdline}"
    return
  done
  return 1
}

running() { pid_of "$1" >/dev/null; }

# start NAME ARGUMENT...: starts NAME in its own session, in $cluster_dir. NAME
# does not inherit open files, such as the lock or a pipe of this script.
start() {
  local name=$1 child
  shift
  running "$name" && return
  mkdir -p "$cluster_dir"/{log,run}
  (
    cd "$cluster_dir" || exit
    # shellcheck disable=SC2016  # Expanded by the inner bash.
    exec setsid bash -c '
      for fd in /proc/$$/fd/*; do
        fd=${fd##*/}
        ((fd <= 2)) || exec {fd}>&-
      done
      echo $$ >"run/${1##*/}.pid"
      exec "$@"' start "$cluster_dir/bin/$name" "$@"
  ) </dev/null >>"$cluster_dir/log/$name.log" 2>&1 &
  child=$!
  until running "$name"; do
    kill -0 "$child" 2>/dev/null || stopped_by_itself "$name"
    sleep 0.02
  done
}

stopped_by_itself() {
  tail -n 5 "$cluster_dir/log/$1.log" >&2
  die "$1 exited: see the end of its log above, or" \
    "$cluster_dir/log/$1.log; 'scripts/cluster down' deletes everything"
}

# await SECONDS WHAT COMMAND...: waits until COMMAND succeeds. Fails if one of
# the components in $watched exits.
await() {
  local deadline=$((SECONDS + $1)) what=$2 name
  shift 2
  until "$@" >/dev/null 2>&1; do
    for name in "${watched[@]}"; do
      running "$name" || stopped_by_itself "$name"
    done
    ((SECONDS < deadline)) ||
      die "timed out waiting for $what: see the logs in $cluster_dir/log;" \
        "'scripts/cluster down' deletes everything"
    sleep 0.2
  done
}

# stop NAME...: sends SIGTERM to all, waits, and kills those that do not exit.
stop() {
  local name deadline=$((SECONDS + 10))
  for name in "$@"; do
    send TERM "$name"
  done
  for name in "$@"; do
    while running "$name"; do
      ((SECONDS < deadline)) || send KILL "$name"
      ((SECONDS < deadline + 10)) ||
        die "failed to stop $name: check that the process" \
          "$(pid_of "$name") belongs to you"
      sleep 0.05
    done
    rm -f "$cluster_dir/run/$name.pid"
  done
}

send() {
  local pid
  ! pid=$(pid_of "$2") || kill "-$1" "$pid" 2>/dev/null || true
}
