# Deployments and ReplicaSets: kubectl scale, rollout and set.
# shellcheck shell=bash disable=SC2154

scale_a_deployment() {
  given_deployment
  kubectl scale deployment web --replicas 4
  running 4 -l app=web
  await '^4$' get deployment web -o 'jsonpath={.status.availableReplicas}'
  kubectl get deployment web
  kubectl scale deployment web --replicas 1 --current-replicas 2
  kubectl scale deployment web --replicas 1 --current-replicas 4
  running 1 -l app=web
  kubectl scale deployment web --replicas 0
  await 'No resources' get pods
  kubectl get deployment,rs
  kubectl scale --replicas 2 -f deployment.yaml
  kubectl scale deployment web --replicas -1
  kubectl scale deployment none --replicas 1
  kubectl scale configmap none --replicas 1
  kubectl scale pod none --replicas 1
}

scale_a_replicaset_by_itself() {
  given kubectl create -f - <<'EOT'
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: single
spec:
  replicas: 1
  selector:
    matchLabels:
      app: single
  template:
    metadata:
      labels:
        app: single
    spec:
      containers:
        - name: nginx
          image: nginx:1.29
EOT
  running 1
  kubectl scale rs single --replicas 3
  running 3
  await '^3$' get rs single -o 'jsonpath={.status.availableReplicas}'
  kubectl get rs
  kubectl get pods
  kubectl describe rs single | grep -v SuccessfulCreate
}

rollout_of_a_new_image() {
  given_deployment
  kubectl rollout status deployment/web
  kubectl set image deployment/web nginx=nginx:1.30
  given kubectl rollout status deployment/web
  running 2
  kubectl rollout status deployment web
  kubectl get rs --sort-by .spec.replicas
  kubectl set image deployment/web nginx=nginx:1.30
  kubectl set image deployment/web none=nginx:1.30
  kubectl set image deployment/none nginx=nginx:1.30
}

rollout_restart() {
  given_deployment
  kubectl rollout restart deployment/web
  given kubectl rollout status deployment/web
  running 2
  kubectl get rs --sort-by .spec.replicas
  kubectl get pods
  kubectl get deployment web -o 'jsonpath={.spec.template.metadata}'
  kubectl rollout restart deployment none
  kubectl rollout restart pod none
}

rollout_pause_and_resume() {
  given_deployment
  kubectl rollout pause deployment/web
  kubectl rollout pause deployment/web
  kubectl set image deployment/web nginx=nginx:1.30
  kubectl scale deployment web --replicas 3
  running 3
  await '^3$' get deployment web -o 'jsonpath={.status.availableReplicas}'
  kubectl get deployment web
  kubectl rollout status deployment/web --timeout 1s
  kubectl get deployment web -o "jsonpath={.status.conditions[?(@.type=='\
Progressing')].reason}"
  kubectl rollout restart deployment/web
  kubectl rollout resume deployment/web
  given kubectl rollout status deployment/web
  running 3
  kubectl get rs --sort-by .spec.replicas
}

rollout_that_stalls() {
  given_deployment
  given kubectl patch deployment web -p '{"spec": {"template": {"spec":
    {"nodeSelector": {"kubernetes.io/hostname": "nowhere"}}}}}'
  await '^1$' get deployment web -o 'jsonpath={.status.updatedReplicas}'
  kubectl rollout status deployment/web --timeout 1s
  kubectl get deployment web
  kubectl get pods --sort-by .status.phase
  kubectl rollout status deployment/none
}

set_env_resources_and_selector() {
  given_deployment
  kubectl set env deployment/web COLOUR=blue
  kubectl set env deployment/web --list
  kubectl set resources deployment/web --limits cpu=200m,memory=128Mi
  kubectl set selector service none app=web
  kubectl get deployment web -o 'jsonpath={.spec.template.spec}'
}

recreate_strategy() {
  sed 's/^spec:/&\n  strategy: {type: Recreate}/' deployment.yaml \
    >"$scratch/recreate.yaml"
  given kubectl apply -f "$scratch/recreate.yaml"
  given kubectl rollout status deployment/web
  kubectl set image deployment/web nginx=nginx:1.30
  given kubectl rollout status deployment/web
  running 2
  kubectl get rs --sort-by .spec.replicas
  kubectl describe deployment web | grep -E 'Strategy|Scal'
}

a_lost_pod_is_replaced() {
  given_deployment
  before=$("$built/kubectl" get pods -o name | head -n 1)
  given kubectl delete "$before"
  running 2
  kubectl get pods
  kubectl get "$before" 2>&1
}
