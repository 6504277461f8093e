# For the scripts that compare the embedded API server with a real control
# plane. A side is a folder in $work with a kubeconfig: "real", "embedded", or
# "again", a second real one.
# shellcheck shell=bash

# shellcheck source=scripts/lib/check.sh
source "$(dirname "${BASH_SOURCE[0]}")/check.sh"

manifests=$root/testdata/manifests
server=${MINISCHED_APISERVER:-$root/build/bin/minisched-apiserver}
sides=(real embedded)
records=$work/records # SIDE/… has the output and the logs of a side.

# start_sides: starts the $sides, each with three nodes and kube-scheduler.
start_sides() {
  local side
  [[ ${sides[*]} != *embedded* || (-f $server && -x $server) ]] ||
    die "no embedded server at $server: build it, or set MINISCHED_APISERVER"
  info "starting: ${sides[*]} …"
  for side in "${sides[@]}"; do
    mkdir -p "$work/$side" "$records/$side"
    if [[ $side == embedded ]]; then
      start_embedded
    else
      ln -s "$built" "$work/$side/bin"
      MINISCHED_CLUSTER_DIR=$work/$side cluster up >/dev/null
    fi
  done
}

embedded_pids=()

start_embedded() {
  local side=$work/embedded
  "$server" --port 0 --kubeconfig-out "$side/kubeconfig" --simulate \
    >"$side/url" 2>"$records/embedded/server.log" &
  embedded_pids+=($!)
  eventually 10 test -s "$side/url" ||
    die "$server printed no URL: $(tail -n 3 "$records/embedded/server.log")"
  silently embedded apply -f "$manifests/nodes.yaml"
  silently embedded wait --for condition=Ready --timeout 20s \
    -f "$manifests/nodes.yaml"

  # The embedded server supports only JSON, so configure kube-scheduler for it.
  cat >"$side/scheduler.yaml" <<EOT
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: false
clientConnection:
  kubeconfig: $side/kubeconfig
  contentType: application/json
  acceptContentTypes: application/json
EOT
  "$built/kube-scheduler" --config "$side/scheduler.yaml" --secure-port 0 \
    >"$records/embedded/kube-scheduler.log" 2>&1 &
  embedded_pids+=($!)
}

# silently SIDE ARGUMENT...: runs kubectl to prepare a side.
silently() {
  local side=$1 log=$work/$1/kubectl.log
  shift
  timeout 60 "$built/kubectl" --kubeconfig "$work/$side/kubeconfig" \
    --cache-dir "$work/$side/cache" "$@" >"$log" 2>&1 ||
    die "'kubectl $*' failed on the $side server: $(cat "$log")"
}

check_the_embedded_server() {
  [[ ${sides[*]} != *embedded* ]] || check the_embedded_server_still_runs
}

the_embedded_server_still_runs() {
  kill -0 "${embedded_pids[0]}" || {
    tail -n 20 "$records/embedded/server.log"
    return 1
  }
}

stop_sides() {
  local side
  ((${#embedded_pids[@]} == 0)) || kill "${embedded_pids[@]}" 2>/dev/null || true
  for side in real again; do
    [[ ! -d $work/$side ]] ||
      MINISCHED_CLUSTER_DIR=$work/$side cluster down >/dev/null 2>&1 || true
  done
}
trap 'stop_sides; cleanup' EXIT
