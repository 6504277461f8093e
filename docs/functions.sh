# shellcheck shell=bash
# Functions that several chapters use. In bash, at the root of the repository:
#
#   source docs/functions.sh

# pods CPU NAME…: creates pods that request this much CPU. They are pods of
# $scheduler_name, or of minisched.
pods() {
  local cpu=$1 pod
  for pod in "${@:2}"; do
    cat <<EOT
---
apiVersion: v1
kind: Pod
metadata: {name: $pod}
spec:
  schedulerName: ${scheduler_name:-minisched}
  containers: [{name: main, image: nginx, resources: {requests: {cpu: $cpu}}}]
EOT
  done | kubectl create -f - >/dev/null
}

# ranked CLASS CPU NAME [NODE]: creates a pod of this PriorityClass that requests
# this much CPU. With NODE, the pod is on this node at once.
ranked() {
  kubectl create -f - >/dev/null <<EOT
apiVersion: v1
kind: Pod
metadata: {name: $3}
spec:
  schedulerName: minisched
  priorityClassName: $1
  nodeName: "${4-}"
  containers: [{name: main, image: nginx, resources: {requests: {cpu: $2}}}]
EOT
}

# nodes NAME…: creates nodes with 4 CPUs.
nodes() {
  local node
  for node; do
    cat <<EOT
---
apiVersion: v1
kind: Node
metadata: {name: $node}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
EOT
  done | kubectl create -f - >/dev/null
}

# job MINIMUM NAME-GROUP…: creates pods that request 2 CPUs. A pod named 1-a is
# a member of the group a, of which MINIMUM members must run together.
job() {
  local minimum=$1 pod
  for pod in "${@:2}"; do
    cat <<EOT
---
apiVersion: v1
kind: Pod
metadata:
  name: $pod
  labels:
    pod-group.scheduling.sigs.k8s.io/name: ${pod#*-}
    pod-group.scheduling.sigs.k8s.io/min-available: "$minimum"
spec:
  schedulerName: minisched
  containers: [{name: main, image: nginx, resources: {requests: {cpu: 2}}}]
EOT
  done | kubectl create -f - >/dev/null
}

# running COUNT: waits until this many pods are Running.
running() {
  until (($(kubectl get pods 2>&1 | grep -c Running) == $1)); do sleep 0.2; done
}

# clean: deletes all pods, without a grace period.
clean() {
  kubectl delete >/dev/null \
    --raw '/api/v1/namespaces/default/pods?gracePeriodSeconds=0'
}

# faults FAULT…: replaces the faults of the embedded API server by those in this
# YAML. Without an argument, the server has none.
faults() {
  local server
  server=$(kubectl config view --minify -o 'jsonpath={..server}')
  curl -s -X PUT "$server/minisched/faults" \
    -H 'Content-Type: application/yaml' -d "faults: [$*]"
}

# threads PID: prints how many threads the process has.
threads() { awk '/^Threads/ {print $2}' "/proc/$1/status"; }
