# Requests that the server rejects, and its error messages.
# shellcheck shell=bash disable=SC2154

invalid_pods() {
  kubectl create -f - <<'EOT'
apiVersion: v1
kind: Pod
metadata:
  name: Upper_Case
  labels:
    "bad key": "x"
spec:
  restartPolicy: Sometimes
  containers: []
EOT
  kubectl create -f - <<'EOT'
apiVersion: v1
kind: Pod
metadata:
  name: bad
spec:
  nodeSelector:
    disk: "not valid!"
  tolerations:
    - {key: a, operator: Near}
    - {effect: NoSchedule, value: x}
  containers:
    - name: twice
      image: nginx
      imagePullPolicy: Seldom
    - name: twice
      image: ""
      resources:
        requests: {memory: -1}
    - image: nginx
      name: Upper
      ports:
        - containerPort: 70000
      resources:
        requests: {cpu: 2}
        limits: {cpu: 1}
EOT
  kubectl create -f - <<'EOT'
apiVersion: v1
kind: Pod
metadata:
  name: bad
spec:
  containers:
    - name: nginx
EOT
  kubectl create -f - <<'EOT'
apiVersion: v1
kind: Pod
metadata:
  name: bad
EOT
}

invalid_affinity_and_spreading() {
  kubectl create -f - <<'EOT'
apiVersion: v1
kind: Pod
metadata:
  name: bad
spec:
  priorityClassName: none
  containers:
    - name: nginx
      image: nginx
EOT
  kubectl create -f - <<'EOT'
apiVersion: v1
kind: Pod
metadata:
  name: bad
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions:
              - {key: zone, operator: In}
              - {key: zone, operator: Near, values: [a]}
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 0
          preference: {}
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - labelSelector: {matchLabels: {app: web}}
  topologySpreadConstraints:
    - maxSkew: 0
      topologyKey: ""
      whenUnsatisfiable: Perhaps
  schedulingGates:
    - name: "not valid"
  containers:
    - name: nginx
      image: nginx
EOT
}

unknown_fields() {
  sed 's/nodeName:/nodename:/; s/name: nginx/&\n      colour: blue/' pods.yaml \
    >"$scratch/unknown.yaml"
  kubectl create -f - <"$scratch/unknown.yaml"
  kubectl create --validate=warn -l app=web -f - <"$scratch/unknown.yaml"
  kubectl delete pod web
  kubectl apply --validate=ignore -l app=web -f - <"$scratch/unknown.yaml"
  kubectl apply -f - <<'EOT'
apiVersion: v1
kind: ConfigMap
metadata:
  name: twice
data:
  a: "1"
  a: "2"
EOT
  kubectl apply -f - <<'EOT'
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
specs:
  replicas: 1
EOT
}

wrong_types() {
  sed 's/replicas: 2/replicas: two/' deployment.yaml >"$scratch/two.yaml"
  kubectl create -f - <"$scratch/two.yaml"
  kubectl apply -f - <"$scratch/two.yaml"
  kubectl create --validate=ignore -f - <"$scratch/two.yaml"
  sed 's/cpu: 250m/cpu: much/' pods.yaml >"$scratch/much.yaml"
  kubectl create -f - <"$scratch/much.yaml"
  kubectl create -f - <<'EOT'
apiVersion: v1
kind: ConfigMap
metadata:
  name: numbers
data:
  one: 1
  truth: true
EOT
  kubectl create -f - <<'EOT'
apiVersion: v1
kind: Pod
metadata:
  name: bad
spec:
  containers:
    name: nginx
EOT
}

wrong_versions_and_kinds() {
  sed 's|apps/v1|apps/v7|' deployment.yaml >"$scratch/v7.yaml"
  kubectl create -f - <"$scratch/v7.yaml"
  kubectl apply -f - <"$scratch/v7.yaml"
  kubectl apply -f - <<'EOT'
apiVersion: example.com/v1
kind: Cheese
metadata:
  name: edam
---
apiVersion: v1
kind: Cheese
metadata:
  name: gouda
EOT
  kubectl create -f - <<'EOT'
kind: Pod
metadata:
  name: versionless
EOT
  kubectl create -f - <<'EOT'
apiVersion: v1
metadata:
  name: kindless
EOT
  kubectl create -f - <<'EOT'
apiVersion: v1
kind: Pod
metadata: {name: a
EOT
  echo | kubectl apply -f -
}

wrong_bodies_sent_raw() {
  kubectl create --raw "/api/v1/namespaces/$ns/pods" -f - <<<'{}'
  kubectl create --raw "/api/v1/namespaces/$ns/pods" -f deployment.yaml
  kubectl create --raw "/api/v1/namespaces/$ns/pods" -f - \
    <<<'{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}'
  kubectl create --raw "/api/v1/namespaces/$ns/configmaps" -f - \
    <<<'{"metadata": {"name": "a", "namespace": "elsewhere"}}'
  kubectl create --raw "/api/v1/namespaces/$ns/configmaps" -f - \
    <<<'{"metadata": {}}'
  kubectl replace --raw "/api/v1/namespaces/$ns/configmaps/a" -f - \
    <<<'{"metadata": {"name": "b"}}'
  kubectl create --raw "/api/v1/namespaces/nowhere/configmaps" -f - \
    <<<'{"metadata": {"name": "a"}}'
}

selectors_and_templates_must_match() {
  sed 's/^      app: web/      app: other/' deployment.yaml >"$scratch/other.yaml"
  kubectl apply -f - <"$scratch/other.yaml"
  sed '/selector:/,/app: web/d' deployment.yaml >"$scratch/none.yaml"
  kubectl apply -f - <"$scratch/none.yaml"
  given kubectl create -f deployment.yaml
  sed 's/app: web/app: other/' deployment.yaml >"$scratch/other.yaml"
  kubectl apply -f - <"$scratch/other.yaml"
}

immutable_fields() {
  given kubectl create -f stack.yaml
  given kubectl create priorityclass "$ns" --value 1000
  kubectl patch pod web --type merge -p '{"spec": {"nodeName": "node-1"}}'
  kubectl patch pod web --type merge -p '{"metadata": {"namespace": "default"}}'
  kubectl patch priorityclass "$ns" -p '{"value": 7}'
  kubectl patch pod web -p '{"metadata": {"uid": "other"}}'
  given kubectl delete priorityclass "$ns"
}

invalid_names() {
  kubectl create configmap UPPER
  kubectl create configmap "$(printf 'a%.0s' {1..254})"
  kubectl create namespace a.b
  kubectl get pod A_B
  kubectl get pods -n A_B
  kubectl run 'a/b' --image nginx
}

invalid_budgets() {
  kubectl create -f - <<'EOT'
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: bad
spec:
  minAvailable: 150%
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: worse
spec:
  maxUnavailable: -1
EOT
}
