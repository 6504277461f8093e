# The cluster in containers, made by kind.
# shellcheck shell=bash

# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

kind_config=$root/testdata/manifests/kind.yaml
kind_name=$(sed -n 's/^name: //p' "$kind_config")
kind_kubeconfig=$cluster_dir/kind.kubeconfig

check_kind() {
  local engine
  has kind || die "no kind on PATH: install it" \
    "(https://kind.sigs.k8s.io), or use 'scripts/cluster up real'"
  engine=${KIND_EXPERIMENTAL_PROVIDER-}
  [[ -n $engine ]] || for engine in docker podman nerdctl none; do
    ! has "$engine" || break
  done
  has "$engine" || die "kind needs Docker (or Podman), and there is none on" \
    "PATH: install one, or use 'scripts/cluster up real'"
  "$engine" info >/dev/null 2>&1 || die "'$engine info' fails: start $engine," \
    "or get the right to use it, or use 'scripts/cluster up real'"
}

kind_exists() { kind get clusters 2>/dev/null | grep -qx "$kind_name"; }

kind_kubectl() { "$kubectl" --kubeconfig "$kind_kubeconfig" "$@"; }

up_kind() {
  local kubectl
  check_kind
  kubectl=$(kubectl_bin)
  # Never kind's default, which would change the user's ~/.kube/config.
  kind_exists || kind create cluster --config "$kind_config" \
    --kubeconfig "$kind_kubeconfig" --wait 180s >&2 ||
    die "kind cannot make the cluster: its output is above"
  kind get kubeconfig --name "$kind_name" >"$kind_kubeconfig"
  kind_kubectl wait --for=condition=Ready node --all --timeout=180s \
    >/dev/null ||
    die "kind's cluster $kind_name is there, but its nodes are not Ready:" \
      "'scripts/cluster down kind' deletes it, then up makes a new one"
  say_how "$kind_kubeconfig"
}

down_kind() {
  check_kind
  ! kind_exists || kind delete cluster --name "$kind_name" \
    --kubeconfig "$kind_kubeconfig" >&2 ||
    die "kind cannot delete the cluster: its output is above"
  rm -f "$kind_kubeconfig"
  info "kind's cluster $kind_name is down"
}

status_kind() {
  local kubectl
  check_kind
  kind_exists || {
    echo "kind's cluster $kind_name is down"
    return 1
  }
  kubectl=$(kubectl_bin)
  kind get kubeconfig --name "$kind_name" >"$kind_kubeconfig"
  kind_kubectl get nodes --request-timeout 5s
}
