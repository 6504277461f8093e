# The certificates, keys and kubeconfigs of a cluster, in $cluster_dir/pki.
# shellcheck shell=bash

# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# make_pki PORT: makes all files for an API server at this port.
make_pki() {
  local server=https://127.0.0.1:$1 name
  local names=DNS:localhost,IP:127.0.0.1,IP:10.96.0.1,DNS:kubernetes
  names+=,DNS:kubernetes.default,DNS:kubernetes.default.svc
  names+=,DNS:kubernetes.default.svc.cluster.local
  has openssl || install_packages openssl
  mkdir -p "$cluster_dir"/{log,pki}
  (
    cd "$cluster_dir/pki" || exit
    ssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out sa.key
    ssl pkey -in sa.key -pubout -out sa.pub
    make_authority
    make_certificate apiserver /CN=kube-apiserver \
      extendedKeyUsage=serverAuth subjectAltName="$names"
    # The scheduler and the controller manager have only their default rights.
    # kwok needs more, because it simulates the kubelets of all nodes.
    make_client admin /O=system:masters/CN=kubernetes-admin
    make_client controller-manager /CN=system:kube-controller-manager
    make_client scheduler /CN=system:kube-scheduler
    make_client kwok /O=system:masters/CN=kwok
    for name in admin controller-manager scheduler kwok; do
      make_kubeconfig "$name" "$server"
    done
  )
}

# Runs openssl and logs its verbose output.
ssl() {
  openssl "$@" 2>>"$cluster_dir/log/pki.log" ||
    die "'openssl $1' failed: see $cluster_dir/log/pki.log"
}

# Prints a minimal configuration, which replaces the system's openssl.cnf.
openssl_config() { printf '[req]\ndistinguished_name=dn\n[dn]\n'; }

new_key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)

make_authority() {
  ssl req -x509 -config <(openssl_config) "${new_key[@]}" -days 3650 \
    -subj /CN=minisched-ca -addext basicConstraints=critical,CA:TRUE \
    -addext keyUsage=critical,keyCertSign,cRLSign \
    -addext subjectKeyIdentifier=hash -keyout ca.key -out ca.crt
}

# make_certificate NAME SUBJECT EXTENSION...
make_certificate() {
  local name=$1 subject=$2
  shift 2
  ssl req -new -config <(openssl_config) "${new_key[@]}" \
    -subj "$subject" -keyout "$name.key" |
    ssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 \
      -extfile <(printf '%s\n' keyUsage=critical,digitalSignature "$@") \
      -out "$name.crt"
}

make_client() { make_certificate "$1" "$2" extendedKeyUsage=clientAuth; }

# make_kubeconfig NAME SERVER: writes a kubeconfig in kind's format.
make_kubeconfig() {
  cat >"$1.kubeconfig" <<EOT
apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: $(base64 -w 0 <ca.crt)
    server: $2
  name: minisched-real
contexts:
- context:
    cluster: minisched-real
    user: minisched-real
  name: minisched-real
current-context: minisched-real
kind: Config
preferences: {}
users:
- name: minisched-real
  user:
    client-certificate-data: $(base64 -w 0 <"$1.crt")
    client-key-data: $(base64 -w 0 <"$1.key")
EOT
}
