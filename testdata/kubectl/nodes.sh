# Changes of nodes, drains, and Bindings to nodes.
# shellcheck shell=bash disable=SC2154

taint_a_node() {
  given_workers
  kubectl taint node worker-a colour=blue:NoSchedule
  kubectl taint node worker-a colour=blue:NoSchedule
  kubectl taint node worker-a colour=red:NoSchedule
  kubectl taint node worker-a colour=red:NoSchedule --overwrite
  kubectl taint nodes -l pool=workers size=large:PreferNoSchedule
  kubectl get node worker-a -o 'jsonpath={.spec.taints}'
  kubectl taint node worker-a colour:NoSchedule- size-
  kubectl taint node worker-a colour-
  kubectl taint node worker-a colour=blue:Sometimes
  kubectl taint node none colour=blue:NoSchedule
  kubectl get node worker-a -o 'jsonpath={.spec.taints}'
}

cordon_and_uncordon() {
  given_workers
  kubectl cordon worker-a
  kubectl cordon worker-a
  await 'unschedulable' get node worker-a -o 'jsonpath={.spec.taints}'
  kubectl get nodes -l pool=workers
  kubectl get node worker-a -o 'jsonpath={.spec.unschedulable}'
  kubectl get nodes --field-selector spec.unschedulable=true
  kubectl uncordon worker-a
  kubectl uncordon worker-a
  kubectl cordon none
  kubectl cordon -l pool=workers
  kubectl get nodes -l pool=workers
}

label_a_node_with_its_role() {
  given_workers
  kubectl label node worker-a node-role.kubernetes.io/worker=
  kubectl label node worker-b kubernetes.io/role=db
  kubectl get nodes -l pool=workers
}

drain_a_node() {
  given_workers
  given_on_worker one two
  kubectl drain worker-a
  kubectl drain worker-a --ignore-daemonsets --force | sorted
  kubectl get pods
  kubectl get node worker-a
  kubectl drain worker-a
  kubectl drain none
}

drain_a_deployment_elsewhere() {
  given_workers
  given kubectl create -f - <<'EOT'
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      tolerations:
        - operator: Exists
      nodeSelector:
        pool: workers
      affinity:
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              preference:
                matchExpressions:
                  - key: kubernetes.io/hostname
                    operator: In
                    values: [worker-a]
      containers:
        - name: nginx
          image: nginx:1.29
EOT
  given kubectl rollout status deployment/web
  kubectl get pods -o wide
  kubectl drain worker-a
}

drain_dry() {
  given_workers
  given_on_worker one
  kubectl drain worker-a --force --dry-run=client
  kubectl drain worker-a --force --dry-run=server
  kubectl get pods
  kubectl get node worker-a
}

drain_blocked_by_a_budget() {
  given_workers
  given_on_worker one
  given kubectl create pdb web --selector app=web --min-available 1
  await '^1$' get pdb web -o 'jsonpath={.status.currentHealthy}'
  kubectl drain worker-a --force --timeout 1s
  kubectl get pods
}

drain_until_the_budget_allows_it() {
  given_workers
  given_on_worker one
  given kubectl create pdb web --selector app=web --min-available 1
  await '^1$' get pdb web -o 'jsonpath={.status.currentHealthy}'
  kubectl drain worker-a --force &
  drain=$!
  await SchedulingDisabled get node worker-a
  sleep 1
  given kubectl delete pdb web
  wait $drain
  kubectl get pods
}

evict_through_the_api() {
  given_pods
  given kubectl create pdb web --selector app=web --min-available 1
  await '^1$' get pdb web -o 'jsonpath={.status.currentHealthy}'
  evict() {
    kubectl create --raw "/api/v1/namespaces/$ns/pods/$1/eviction" -f - <<EOT
{"apiVersion": "policy/v1", "kind": "Eviction",
 "metadata": {"name": "$1", "namespace": "$ns"}}
EOT
  }
  evict web
  evict db
  evict none
}

bind_pods_through_the_api() {
  given kubectl create -f pending.yaml
  bind() {
    kubectl create --raw "/api/v1/namespaces/$ns/pods/$1/binding" -f - <<EOT
{"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "$1"},
 "target": {"apiVersion": "v1", "kind": "Node", "name": "$2"}}
EOT
  }
  bind none node-1
  bind pending ''
  bind pending node-1
  bind pending node-2
  running 1
  kubectl get pod pending -o wide
  kubectl get pod pending -o yaml
}

gated_pods_cannot_be_bound() {
  given kubectl create -f - <<'EOT'
apiVersion: v1
kind: Pod
metadata:
  name: gated
spec:
  schedulingGates:
    - name: example.com/wait
  containers:
    - name: nginx
      image: nginx:1.29
EOT
  kubectl get pod gated
  kubectl get pod gated -o 'jsonpath={.status.conditions[*].reason}'
  kubectl create --raw "/api/v1/namespaces/$ns/pods/gated/binding" -f - <<'EOT'
{"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "gated"},
 "target": {"apiVersion": "v1", "kind": "Node", "name": "node-1"}}
EOT
  kubectl patch pod gated -p '{"spec": {"schedulingGates":
    [{"name": "example.com/more"}]}}'
  kubectl patch pod gated --type merge -p '{"spec": {"nodeSelector":
    {"kubernetes.io/hostname": "node-1"}}}'
  kubectl patch pod gated --type json \
    -p '[{"op": "remove", "path": "/spec/schedulingGates"}]'
  running 1
  kubectl get pod gated -o wide
}

delete_a_node() {
  given_workers
  kubectl delete node worker-b
  kubectl get node worker-b
  kubectl delete node worker-b
}
