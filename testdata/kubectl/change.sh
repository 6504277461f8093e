# kubectl patch, edit, label and annotate.
# shellcheck shell=bash disable=SC2154

patch_in_three_types() {
  given kubectl create -f deployment.yaml
  given kubectl create configmap settings --from-literal a=1 --from-literal b=2
  kubectl patch deployment web -p '{"spec": {"template": {"spec": {"containers":
    [{"name": "nginx", "imagePullPolicy": "Always"}]}}}}'
  kubectl patch configmap settings --type merge \
    -p '{"data": {"a": null, "c": "3"}}'
  kubectl patch configmap settings --type json -p \
    '[{"op": "test", "path": "/data/b", "value": "2"},
      {"op": "replace", "path": "/data/b", "value": "4"},
      {"op": "add", "path": "/metadata/labels", "value": {"x": "y"}}]'
  kubectl patch configmap settings --type merge -p '{"data": {"c": "3"}}'
  kubectl get configmap settings -o yaml
  kubectl get deployment web -o 'jsonpath={.spec.template.spec.containers}'
}

patch_merges_by_merge_keys() {
  given kubectl create -f - <<'EOT'
apiVersion: v1
kind: Pod
metadata:
  name: keys
  finalizers: [example.com/a, example.com/b]
spec:
  schedulerName: nobody
  tolerations:
    - {key: a, operator: Exists}
  containers:
    - name: one
      image: nginx:1.29
    - name: two
      image: nginx:1.29
EOT
  kubectl patch pod keys -p '{"spec": {"containers":
    [{"name": "two", "image": "redis"}]}}'
  # shellcheck disable=SC2016
  kubectl patch pod keys -p '{"metadata": {"$deleteFromPrimitiveList/finalizers":
    ["example.com/a"]}}'
  kubectl patch pod keys --type merge -p '{"spec": {"tolerations": []}}'
  kubectl get pod keys -o \
    'jsonpath={.spec.containers[*].image} {.metadata.finalizers}'
  given kubectl patch pod keys --type merge -p '{"metadata":{"finalizers":[]}}'
}

invalid_patches() {
  given kubectl create configmap settings --from-literal a=1
  given kubectl create -f pending.yaml
  kubectl patch configmap none --type merge -p '{"data": {"a": "2"}}'
  kubectl patch configmap settings --type json \
    -p '[{"op": "test", "path": "/data/a", "value": "2"}]'
  kubectl patch configmap settings --type json \
    -p '[{"op": "remove", "path": "/data/none"}]'
  kubectl patch configmap settings --type json \
    -p '[{"op": "turn", "path": "/data/a"}]'
  kubectl patch configmap settings --type merge \
    -p '{"metadata": {"resourceVersion": "1"}}'
  kubectl patch configmap settings --type merge \
    -p '{"metadata": {"name": "other"}}'
  kubectl patch configmap settings --type merge -p '{"colour": "blue"}'
  kubectl patch pod pending -p '{"spec": {"nodeName": "node-1"}}'
  kubectl patch pod pending -p '{"spec": {"restartPolicy": "Never"}}'
}

patch_the_status() {
  given kubectl create -f pending.yaml
  kubectl patch pod pending --subresource status -p '{"status": {"message": "hm",
    "conditions": [{"type": "example.com/Fine", "status": "True"}]}}'
  kubectl patch pod pending --subresource status --type merge \
    -p '{"status": {"nominatedNodeName": "node-1"}, "metadata": {"labels": null}}'
  kubectl patch pod pending -p '{"status": {"message": "not so"}}'
  kubectl get pod pending -o 'jsonpath={.status} {.metadata.labels}'
  kubectl patch deployment none --subresource scale -p '{"spec":{"replicas":1}}'
  kubectl patch configmap none --subresource status -p '{}'
}

patch_the_scale() {
  given kubectl create -f deployment.yaml
  kubectl patch deployment web --subresource scale --type merge \
    -p '{"spec": {"replicas": 1}}'
  kubectl get deployment web -o 'jsonpath={.spec.replicas}'
}

edit_an_object() {
  given kubectl create configmap settings --from-literal colour=blue
  export KUBE_EDITOR="sed -i s/blue/red/"
  kubectl edit configmap settings
  kubectl get configmap settings -o 'jsonpath={.data}'
  kubectl edit configmap settings
  kubectl edit configmap none
  export KUBE_EDITOR="sed -i s/name:.*/name:-Other/"
  kubectl edit configmap settings
}

edit_to_an_invalid_value() {
  given kubectl create -f deployment.yaml
  export KUBE_EDITOR='sed -i s/replicas:.2/replicas:\ -2/'
  kubectl edit deployment web
}

valid_and_invalid_labels() {
  given kubectl create -f pending.yaml
  kubectl label pod pending colour=blue
  kubectl label pod pending colour=red
  kubectl label pod pending colour=blue
  kubectl label pod pending colour=red size=large --overwrite
  kubectl label pod pending --list | sorted
  kubectl label pod pending colour- none-
  kubectl label pod pending 'colour=not/valid'
  kubectl label pod pending -- '-bad=1'
  kubectl label pod none colour=blue
  kubectl label pods --all step=1
  kubectl label pods -l step=1 step-
  kubectl label -f pending.yaml last=yes
  kubectl get pods --show-labels
}

valid_and_invalid_annotations() {
  given kubectl create -f pending.yaml
  kubectl annotate pod pending note='a longer text'
  kubectl annotate pod pending note=other
  kubectl annotate pod pending note=other --overwrite
  kubectl annotate pod pending --list | sorted
  kubectl annotate pod pending note-
  kubectl annotate pod pending -- '-bad=1'
  kubectl get pod pending -o 'jsonpath={.metadata.annotations}'
}
