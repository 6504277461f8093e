# The cluster that kind runs in containers.
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
  has "$engine" || die "kind needs Docker (or Podman), but none is on" \
    "PATH: install one, or use 'scripts/cluster up real'"
  "$engine" info >/dev/null 2>&1 || die "'$engine info' fails: start $engine," \
    "get permission to use it, or use 'scripts/cluster up real'"
}

kind_exists() { kind get clusters 2>/dev/null | grep -qx "$kind_name"; }

kind_kubectl() { "$kubectl" --kubeconfig "$kind_kubeconfig" "$@"; }

up_kind() {
  local kubectl
  check_kind
  kubectl=$(kubectl_bin)
  # Without --kubeconfig, kind would write to the user's ~/.kube/config.
  kind_exists || kind create cluster --config "$kind_config" \
    --kubeconfig "$kind_kubeconfig" --wait 180s >&2 ||
    die "kind failed to create the cluster: see its output above"
  kind get kubeconfig --name "$kind_name" >"$kind_kubeconfig"
  kind_kubectl wait --for=condition=Ready node --all --timeout=180s \
    >/dev/null ||
    die "the nodes of kind's cluster $kind_name are not Ready: recreate it" \
      "with 'scripts/cluster down kind' and 'scripts/cluster up kind'"
  mark_disposable kind_kubectl
  print_export "$kind_kubeconfig"
}

down_kind() {
  check_kind
  ! kind_exists || kind delete cluster --name "$kind_name" \
    --kubeconfig "$kind_kubeconfig" >&2 ||
    die "kind failed to delete the cluster: see its output above"
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
