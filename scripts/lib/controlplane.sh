# Builds the programs of a real control plane from Go modules into
# $cluster_dir/bin.
# shellcheck shell=bash

# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

module=$root/scripts/controlplane
bin=$cluster_dir/bin
export GOWORK=off # Ignore a workspace of the user in a parent folder.

check_go() {
  local needed have
  needed=$(sed -n 's/^go //p' "$module/go.mod")
  has go || die "no Go on PATH to build the control plane:" \
    "install Go $needed or newer (https://go.dev/dl)"
  # Run inside the module: there, a Go with GOTOOLCHAIN=auto (the default)
  # prints the version that it fetches for go.mod.
  have=$(cd "$module" && go env GOVERSION 2>/dev/null) ||
    have=$(cd / && go env GOVERSION)
  [[ $(printf '%s\n' "$needed" "${have#go}" | sort -V | head -n 1) == \
    "$needed" ]] || die "$(command -v go) is $have, but the control plane" \
    "needs Go $needed or newer: install it (https://go.dev/dl), or let a Go of" \
    "1.21 or newer fetch it with GOTOOLCHAIN=auto"
}

# Builds the programs unless they are up to date with the sources and with Go.
build_controlplane() {
  local version ldflags key stamp package
  version=$(cd "$module" && go list -m -f '{{.Version}}' k8s.io/kubernetes)
  key=k8s.io/component-base/version.git
  ldflags="-s -w -X ${key}Version=$version -X ${key}Major=1"
  ldflags+=" -X ${key}Minor=$(cut -d . -f 2 <<<"$version")"
  stamp=$(cd "$module" && { go version && cat go.mod go.sum ./*/*.go &&
    printf '%s\n' "$ldflags"; } | sha256sum)
  [[ $stamp != "$(cat "$bin/stamp" 2>/dev/null)" ]] || return 0

  info "building Kubernetes $version: about 8 minutes on two cores the first" \
    "time, then kept in $bin"
  mkdir -p "$bin" "$cluster_dir/log"
  rm -f "$bin/stamp"
  # Not in a pipe, so that die() ends the whole script.
  while read -r package; do
    build_program "$package" "$ldflags"
  done < <(cd "$module" && go list tool ./...)
  collect_stages
  # Stop the components of the old build. Their state stays.
  stop_components
  printf '%s\n' "$stamp" >"$bin/stamp"
}

# build_program PACKAGE LDFLAGS
build_program() {
  local name=${1##*/} log=$cluster_dir/log/build.log started=$SECONDS pid
  (cd "$module" && exec go build -mod=readonly -trimpath \
    -ldflags "$2" -o "$bin/$name" "$1") >"$log" 2>&1 &
  pid=$!
  # A build in the background would survive Ctrl-C.
  trap 'kill '$pid' 2>/dev/null || true' EXIT
  [[ -t 2 ]] || info "  $name …"
  while kill -0 "$pid" 2>/dev/null; do
    [[ ! -t 2 ]] || printf '\r  %-25s %s' "$name" "$(elapsed "$started")" >&2
    sleep 0.5
  done
  trap - EXIT
  wait "$pid" || {
    tail -n 20 "$log" >&2
    die "failed to build $name: see the errors above, or all output in $log"
  }
  [[ ! -t 2 ]] || printf '\r' >&2
  info "$(printf '  %-25s %s' "$name" "$(elapsed "$started")")"
}

elapsed() {
  printf '%d:%02d' $(((SECONDS - $1) / 60)) $(((SECONDS - $1) % 60))
}

# Collects the stages of kwok's own module: nodes become Ready, bound pods
# become Running, and jobs complete, all without delay.
collect_stages() {
  local file stages
  stages=$(cd "$module" && go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)
  for file in "$stages"/kustomize/stage/{node,pod}/fast/*-*.yaml; do
    printf -- '---\n'
    cat "$file"
  done >"$bin/kwok-stages.yaml"
}
