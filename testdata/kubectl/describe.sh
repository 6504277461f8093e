# kubectl describe.
# shellcheck shell=bash disable=SC2154

describe_a_pod_that_was_bound() {
  given kubectl create -f - <<'EOT'
apiVersion: v1
kind: Pod
metadata:
  name: bound
  annotations:
    note: scheduled
spec:
  nodeSelector:
    kubernetes.io/hostname: node-3
  containers:
    - name: nginx
      image: nginx:1.29
      args: [-v, --quiet]
      env:
        - name: COLOUR
          value: blue
      ports:
        - containerPort: 80
      resources:
        requests:
          cpu: 100m
          memory: 64Mi
EOT
  running 1
  await Scheduled get events
  kubectl describe pod bound
  kubectl describe pods
}

describe_a_pod_that_fits_no_node() {
  given kubectl create -f - <<'EOT'
apiVersion: v1
kind: Pod
metadata:
  name: big
spec:
  containers:
    - name: nginx
      image: nginx:1.29
      resources:
        requests:
          cpu: "100"
EOT
  await FailedScheduling get events
  await '^False$' get pod big -o 'jsonpath={.status.conditions[0].status}'
  kubectl describe pod big
  kubectl get pod big -o wide
  kubectl get pod big -o yaml
}

describe_by_prefix_and_missing_objects() {
  given kubectl create configmap settings-1 --from-literal colour=blue
  given kubectl create configmap settings-2 --from-literal colour=red
  kubectl describe configmap settings
  kubectl describe configmap none
  kubectl describe pods
  kubectl describe cheese
}

describe_a_node_with_pods() {
  given_workers
  given kubectl create -f - <<'EOT'
apiVersion: v1
kind: Pod
metadata:
  name: first
spec:
  nodeName: worker-a
  containers:
    - name: nginx
      image: nginx:1.29
      resources:
        requests: {cpu: 500m, memory: 1Gi}
        limits: {cpu: "1", memory: 2Gi}
---
apiVersion: v1
kind: Pod
metadata:
  name: second
spec:
  nodeName: worker-a
  containers:
    - name: nginx
      image: nginx:1.29
      resources:
        requests: {cpu: 250m, memory: 100Mi}
EOT
  running 2
  await worker-a get leases -n kube-node-lease
  kubectl describe node worker-a | sed '/^Events/,$d'
}

describe_a_deployment_and_its_replicaset() {
  given_deployment
  await '(SuccessfulCreate.*){2}' get events -o 'jsonpath={.items[*].reason}'
  kubectl describe deployment web | without_history
  kubectl describe rs | without_history
  given kubectl scale deployment web --replicas 1
  await '^1$' get deployment web -o 'jsonpath={.status.replicas}'
  await SuccessfulDelete get events
  kubectl describe deployment/web | without_history
}

describe_a_namespace() {
  given kubectl label namespace "$ns" colour=blue
  kubectl describe namespace "$ns" | sed '/^No /d; /^$/d'
}

describe_the_smaller_kinds() {
  given kubectl create -f stack.yaml
  running 1
  await '^1$' get pdb web -o 'jsonpath={.status.currentHealthy}'
  kubectl describe configmap settings
  kubectl describe pdb web | sed '/^Events/,$d'
  kubectl describe priorityclass system-cluster-critical
}
