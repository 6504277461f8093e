# For the tests of scripts: a temporary cluster, and checks that continue after
# a failure. Does not touch a running cluster of the user.
# shellcheck shell=bash

# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# The programs to test.
export MINISCHED_BIN=${MINISCHED_BIN:-$root/build/bin}

built=$cluster_dir/bin
work=$(mktemp -d)
readonly work # A test must not change it: cleanup removes this folder.
export MINISCHED_CLUSTER_DIR=$work/cluster
export KUBECONFIG=$MINISCHED_CLUSTER_DIR/kubeconfig
mkdir -p "$built"
mkdir -m 700 "$MINISCHED_CLUSTER_DIR"
ln -s "$built" "$MINISCHED_CLUSTER_DIR/bin"

cluster() { "$root/scripts/cluster" "$@"; }
kubectl() { "$built/kubectl" --cache-dir "$work/cache" "$@"; }

cleanup() {
  cluster down >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT

# check NAME: runs the function NAME, whose name is also the title.
check() { check_that "${1//_/ }" "$1"; }

# check_that TITLE COMMAND...: a command that fails runs once more, because a
# busy machine can make a check miss a deadline. Prints both failures.
passed=0 failed=0
check_that() {
  local title=$1 status=0 result
  shift
  for result in 'failed, repeating' 'not ok'; do
    set +e
    (
      set -e
      "$@"
    ) >"$work/output" 2>&1 </dev/null
    status=$?
    set -e
    ((status != 0)) || break
    echo "$result - $title"
    sed 's/^/  /' "$work/output"
  done
  if ((status == 0)); then
    passed=$((passed + 1))
    echo "ok - $title"
  else
    failed=$((failed + 1))
  fi
}

# eventually SECONDS COMMAND...
eventually() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.2
  done
}

not() {
  if "$@"; then
    echo "succeeded unexpectedly: $*"
    return 1
  fi
}

# refuses PATTERN COMMAND...: expects a failure with one line that matches.
refuses() {
  local pattern=$1 output
  shift
  output=$(not "$@" 2>&1)
  echo "$output"
  [[ $(wc -l <<<"$output") == 1 && $output =~ $pattern ]]
}

# Prints the totals. Call it at the end of a test script.
finish() {
  echo "$passed passed, $failed failed"
  ((failed == 0))
}
