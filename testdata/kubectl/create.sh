# kubectl create and run.
# shellcheck shell=bash disable=SC2154

create_from_a_file() {
  kubectl create -f pods.yaml
  kubectl create -f pods.yaml
  kubectl create -f stack.yaml
  kubectl create -f none.yaml
}

create_prints_the_object() {
  kubectl create -f pending.yaml -o name
  kubectl create -f pending.yaml -o yaml
  given kubectl delete -f pending.yaml
  kubectl create -f pending.yaml -o yaml
}

create_with_generated_names() {
  kubectl create -f - <<'EOT'
apiVersion: v1
kind: Pod
metadata:
  generateName: any-
spec:
  schedulerName: nobody
  containers:
    - name: nginx
      image: nginx:1.29
EOT
  kubectl get pods
  kubectl apply -f - <<'EOT'
apiVersion: v1
kind: ConfigMap
metadata:
  generateName: any-
EOT
}

create_a_deployment() {
  kubectl create deployment web --image nginx:1.29 --replicas 2
  kubectl create deployment web --image nginx:1.29
  given kubectl rollout status deployment/web
  kubectl get deployment web
  kubectl get deployment web -o yaml | without_history
  kubectl create deployment two --image nginx --image redis --port 80 \
    --dry-run=client -o yaml
}

create_a_namespace() {
  kubectl create namespace "$ns-more"
  kubectl create namespace "$ns-more"
  kubectl get namespace "$ns-more"
  kubectl create namespace Upper
  kubectl create namespace "$ns-dry" --dry-run=server
  kubectl create namespace "$ns-dry" --dry-run=client -o yaml
}

create_a_configmap() {
  kubectl create configmap settings --from-literal colour=blue \
    --from-literal size=large
  kubectl create configmap files --from-file workers.yaml
  kubectl create configmap settings
  kubectl get configmap settings -o yaml
  kubectl get configmaps files settings -o name
  kubectl create configmap 'bad name' --from-literal a=b
}

create_a_priority_class_and_use_it() {
  kubectl create priorityclass "$ns" --value 1000 --description 'Rather urgent'
  kubectl get priorityclass "$ns"
  kubectl create priorityclass "$ns" --value 7
  kubectl create priorityclass system-mine --value 7
  kubectl create priorityclass "$ns-2" --value 2000000000
  kubectl run urgent --image nginx --overrides "{\"spec\": \
{\"priorityClassName\": \"$ns\", \"nodeName\": \"node-1\"}}"
  kubectl get pod urgent -o \
    'jsonpath={.spec.priority} {.spec.preemptionPolicy}{"\n"}'
  kubectl run lost --image nginx \
    --overrides '{"spec": {"priorityClassName": "none"}}'
  kubectl delete priorityclass "$ns"
}

create_a_pod_disruption_budget() {
  kubectl create poddisruptionbudget web --selector app=web --min-available 1
  kubectl create pdb half --selector app=db --max-unavailable 50%
  await '^1 1 $' get pdb -o \
    'jsonpath={range .items[*]}{.status.observedGeneration} {end}'
  kubectl get pdb
  kubectl describe pdb web | sed '/^Events/,$d'
  kubectl create pdb both --selector app=web --min-available 1 \
    --max-unavailable 1
  kubectl create pdb web --selector app=web --min-available 1
}

create_dry_runs() {
  kubectl create -f pods.yaml --dry-run=client
  kubectl create -f pods.yaml --dry-run=server
  kubectl create -f pending.yaml --dry-run=server -o yaml
  kubectl create deployment web --image nginx:1.29 --dry-run=server -o yaml
  kubectl get all
}

run_pods() {
  kubectl run web --image nginx:1.29
  kubectl run once --image busybox --restart Never --labels app=once,tier=back \
    --env COLOUR=blue --port 80 -- sleep 60
  running 2
  kubectl get pods -L run,app,tier
  kubectl get pod once -o 'jsonpath={.spec.restartPolicy} {.spec.containers}'
  kubectl run web --image nginx:1.29
  kubectl run Web --image nginx:1.29
  kubectl run none
}

run_dry() {
  kubectl run web --image nginx:1.29 --dry-run=client -o yaml
  kubectl run web --image nginx:1.29 --dry-run=server -o yaml
  kubectl run web --image nginx:1.29 --dry-run=server
  kubectl get pods
}
