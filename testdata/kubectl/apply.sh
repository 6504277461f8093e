# kubectl apply, diff and replace.
# shellcheck shell=bash disable=SC2154

apply_changes_only_what_changed() {
  kubectl apply -f deployment.yaml
  kubectl apply -f deployment.yaml
  given kubectl annotate deployment web note=mine
  sed 's/replicas: 2/replicas: 3/; /cpu:/d' deployment.yaml >"$scratch/more.yaml"
  kubectl apply -f - <"$scratch/more.yaml"
  given kubectl rollout status deployment/web
  kubectl get deployment web -o yaml | without_history
  kubectl apply -f - <"$scratch/more.yaml"
}

apply_keeps_fields_that_it_does_not_name() {
  sed '/replicas:/d' deployment.yaml >"$scratch/none.yaml"
  given kubectl apply -f "$scratch/none.yaml"
  given kubectl scale deployment web --replicas 3
  kubectl apply -f - <"$scratch/none.yaml"
  kubectl get deployment web -o 'jsonpath={.spec.replicas}'
  # Apply removes a field that the last apply set and this one does not name.
  kubectl apply -f stack.yaml
  sed '/page.html/,/Hello/d' stack.yaml >"$scratch/less.yaml"
  kubectl apply -f - <"$scratch/less.yaml"
  kubectl get configmap settings -o 'jsonpath={.data}'
}

apply_merges_lists_by_their_keys() {
  given kubectl apply -f deployment.yaml
  given kubectl set image deployment/web nginx=nginx:1.28
  given kubectl patch deployment web -p '{"spec": {"template": {"spec":
    {"containers": [{"name": "side", "image": "busybox"}]}}}}'
  kubectl apply -f deployment.yaml
  kubectl get deployment web -o \
    'jsonpath={range .spec.template.spec.containers[*]}{.name} {.image}{"\n"}{end}'
}

apply_several_objects() {
  kubectl apply -f pods.yaml -f stack.yaml
  kubectl apply -f pods.yaml
  kubectl apply -f - <<'EOT'
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: ConfigMap
    metadata:
      name: one
  - apiVersion: v1
    kind: ConfigMap
    metadata:
      name: two
    data:
      colour: blue
EOT
  kubectl get configmaps one two -o name
}

apply_over_created_objects() {
  given kubectl create -f stack.yaml
  kubectl apply -f stack.yaml
  kubectl apply -f stack.yaml
  kubectl apply view-last-applied configmap settings
}

apply_dry_runs() {
  kubectl apply -f stack.yaml --dry-run=client
  kubectl apply -f stack.yaml --dry-run=server
  kubectl get configmap settings
  given kubectl apply -f stack.yaml
  kubectl apply -f stack.yaml --dry-run=server
  kubectl apply -f pending.yaml --dry-run=server -o yaml
}

apply_to_immutable_fields_of_a_pod() {
  given kubectl apply -f pods.yaml
  running 3
  sed 's/cpu: 250m/cpu: 300m/' pods.yaml >"$scratch/pods.yaml"
  kubectl apply -f - <"$scratch/pods.yaml"
  sed 's/nginx:1.29/nginx:1.30/' pods.yaml >"$scratch/pods.yaml"
  kubectl apply -f - <"$scratch/pods.yaml"
}

diff_shows_what_apply_would_do() {
  kubectl diff -f pending.yaml
  given kubectl apply -f deployment.yaml -f stack.yaml
  given kubectl rollout status deployment/web
  kubectl diff -f deployment.yaml -f stack.yaml
  sed 's/replicas: 2/replicas: 4/' deployment.yaml >"$scratch/more.yaml"
  kubectl diff -f - <"$scratch/more.yaml" | sed 's/^@@ .*/@@/'
}

replace_objects() {
  kubectl replace -f stack.yaml
  given kubectl create -f stack.yaml
  running 1
  sed 's/blue/red/' stack.yaml >"$scratch/red.yaml"
  kubectl replace -f - <"$scratch/red.yaml"
  kubectl get configmap settings -o 'jsonpath={.data.colour}'
  kubectl replace -f pending.yaml
}

replace_of_an_old_version_conflicts() {
  given kubectl create configmap settings --from-literal colour=blue
  "$built/kubectl" get configmap settings -o yaml >"$scratch/old.yaml"
  given kubectl label configmap settings step=1
  kubectl replace -f - <"$scratch/old.yaml"
  kubectl apply -f - <"$scratch/old.yaml"
  sed '/resourceVersion/d; s/uid: .*/uid: 00000000-aaaa-bbbb-cccc-000000000000/' \
    "$scratch/old.yaml" >"$scratch/other.yaml"
  kubectl replace -f - <"$scratch/other.yaml"
}

replace_by_force() {
  given kubectl create -f pending.yaml
  kubectl replace --force -f pending.yaml
  kubectl get pods
}
