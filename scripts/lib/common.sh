# Helpers for all scripts.
# shellcheck shell=bash

# The root of the repository.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

info() { printf '%s\n' "$*" >&2; }

# Prints one line (what is wrong, where, and what to do) and exits.
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# The folder of scripts/cluster.
cluster_dir=$(realpath -m "${MINISCHED_CLUSTER_DIR:-$root/.cluster}")

# Prints the path of kubectl: the user's own, or else the one built here.
kubectl_bin() {
  if type -P kubectl; then
    : # type prints the path.
  elif [[ -x $cluster_dir/bin/kubectl ]]; then
    printf '%s\n' "$cluster_dir/bin/kubectl"
  else
    die "no kubectl on PATH: install it, or run 'scripts/cluster up'," \
      "which builds one"
  fi
}

# mark_disposable KUBECTL: marks the cluster as one whose objects the live page
# of a scheduler may replace. It does so only on request.
mark_disposable() {
  "$1" label namespace kube-system minisched-cluster=disposable \
    --overwrite >/dev/null
}

# install_packages PACKAGE...: installs the Debian packages that are missing.
install_packages() {
  local package missing=() as_root=()
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == \
      installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  has apt-get || die "missing packages, and no apt-get to install them:" \
    "install your system's packages for ${missing[*]}"
  if ((EUID != 0)); then
    has sudo || die "missing packages, and neither root nor sudo to install" \
      "them: as root, run 'apt-get install ${missing[*]}'"
    as_root=(sudo)
  fi
  info "installing ${missing[*]} …"
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q)
  { "${as_root[@]}" update && "${as_root[@]}" install -y "${missing[@]}"; } \
    >&2 || die "apt-get failed to install ${missing[*]}: see its output above"
}

# make_venv FOLDER REQUIREMENTS: installs the packages of a requirements file
# unless they are installed. pip resolves nothing, so the file must be complete.
make_venv() {
  local folder=$1 requirements=$2 stamp
  install_packages python3 python3-venv
  # The stamp includes the path, because the programs in the folder contain it.
  stamp=$({ python3 --version && echo "$folder" && cat "$requirements"; } |
    sha256sum)
  [[ $stamp != "$(cat "$folder/stamp" 2>/dev/null)" ]] || return 0
  info "installing ${requirements#"$root/"} in $folder …"
  mkdir -p "${folder%/*}"
  { python3 -m venv --clear "$folder" &&
    "$folder/bin/pip" install --disable-pip-version-check --no-deps \
      --only-binary :all: -r "$requirements" && "$folder/bin/pip" check; } \
    >"$folder.log" 2>&1 || {
    tail -n 20 "$folder.log" >&2
    die "failed to install $requirements: see pip's errors above, or all" \
      "output in $folder.log"
  }
  printf '%s\n' "$stamp" >"$folder/stamp"
}
