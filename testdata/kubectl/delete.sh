# kubectl delete.
# shellcheck shell=bash disable=SC2154

delete_pods() {
  given_pods
  kubectl delete pod web
  kubectl delete pod/web
  kubectl delete pod web --ignore-not-found
  kubectl delete pods -l tier=back --dry-run=server
  kubectl delete pods -l tier=back
  kubectl delete pods -l tier=back
  kubectl delete pods --all
  kubectl delete pods
  kubectl delete
  kubectl get pods
}

delete_from_a_file() {
  given kubectl create -f stack.yaml
  running 1
  kubectl delete -f stack.yaml
  kubectl delete -f stack.yaml
  kubectl delete -f stack.yaml --ignore-not-found
  kubectl get all
}

delete_several_kinds() {
  given kubectl create -f stack.yaml
  running 1
  kubectl delete pod,serviceaccount web -o name
  kubectl delete configmap/settings pdb/web
  given_pods
  kubectl delete pods --all
}

delete_with_background_cascade() {
  given_deployment
  kubectl delete deployment web
  await 'No resources' get rs,pods
  kubectl get all
}

delete_with_foreground_cascade() {
  given_deployment
  kubectl delete deployment web --cascade=foreground
  kubectl get deployments,rs,pods
}

delete_and_orphan() {
  given_deployment
  kubectl delete deployment web --cascade=orphan
  kubectl get deployments
  kubectl get rs
  kubectl get rs -o 'jsonpath={.items[0].metadata.ownerReferences}'
  kubectl delete rs --all --cascade=orphan
  running 2
  kubectl get rs,pods
  kubectl get pods -o 'jsonpath={.items[0].metadata.ownerReferences}'
}

delete_by_force() {
  given_pods
  kubectl delete pod web --force --grace-period=0
  kubectl delete pod api --now
  kubectl delete pod db --grace-period=1
  kubectl get pods
}

delete_waits_for_finalizers() {
  given kubectl create -f - <<'EOT'
apiVersion: v1
kind: Pod
metadata:
  name: held
  finalizers: [example.com/hold]
spec:
  nodeName: node-1
  containers:
    - name: nginx
      image: nginx:1.29
EOT
  running 1
  kubectl delete pod held --wait=false
  kubectl delete pod held --timeout 1s
  kubectl get pod held
  kubectl get pod held -o 'jsonpath={.metadata.finalizers}
{.metadata.deletionGracePeriodSeconds}'
  kubectl patch pod held --type merge -p '{"metadata": {"finalizers": null}}'
  await 'No resources' get pods
  kubectl get pod held
}

delete_a_namespace() {
  given kubectl create namespace "$ns-more"
  given kubectl create -n "$ns-more" -f stack.yaml
  kubectl delete namespace "$ns-more"
  kubectl get namespace "$ns-more"
  kubectl get pods -n "$ns-more"
  kubectl delete namespace default
  kubectl delete namespace "$ns-more"
}

delete_a_namespace_with_a_finalizer_in_it() {
  given kubectl create namespace "$ns-more"
  given kubectl create -n "$ns-more" -f - <<'EOT'
apiVersion: v1
kind: ConfigMap
metadata:
  name: held
  finalizers: [example.com/hold]
EOT
  kubectl delete namespace "$ns-more" --wait=false
  kubectl get namespace "$ns-more"
  kubectl create configmap late -n "$ns-more"
  kubectl run late --image nginx -n "$ns-more"
  given kubectl patch configmap held -n "$ns-more" --type merge \
    -p '{"metadata": {"finalizers": null}}'
}

delete_with_a_precondition() {
  given kubectl create configmap settings
  kubectl delete --raw "/api/v1/namespaces/$ns/configmaps/none"
  kubectl delete --raw "/api/v1/namespaces/$ns/configmaps/settings" |
    sed 's/.*"status":"Success".*/Success/'
  kubectl get configmap settings
}
