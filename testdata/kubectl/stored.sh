# Kinds that the embedded server only stores: Secrets, RBAC, Jobs, Ingresses …
# shellcheck shell=bash disable=SC2154

secrets_are_created_and_read() {
  kubectl create secret generic login --from-literal user=me \
    --from-literal password=opensesame
  kubectl create secret generic login --from-literal user=me
  kubectl create secret docker-registry hub --docker-username me \
    --docker-password opensesame
  kubectl create -f - <<'EOT'
apiVersion: v1
kind: Secret
metadata:
  name: texts
stringData:
  colour: blue
data:
  size: bGFyZ2U=
EOT
  kubectl create -f - <<'EOT'
apiVersion: v1
kind: Secret
metadata:
  name: wrong
data:
  size: large
EOT
  kubectl get secrets
  kubectl get secret texts -o yaml
  kubectl get secrets --field-selector type=kubernetes.io/dockerconfigjson
  kubectl describe secret login
  kubectl delete secret login hub
}

rbac_is_stored() {
  kubectl create role reader --verb get,list --resource pods,pods/log
  kubectl create rolebinding readers --role reader --user me \
    --serviceaccount "$ns:default"
  kubectl create clusterrole "$ns" --verb '*' --resource deployments.apps
  kubectl create clusterrolebinding "$ns" --clusterrole "$ns" --group team
  kubectl get roles,rolebindings
  kubectl get "clusterrole/$ns" "clusterrolebinding/$ns"
  kubectl describe role reader
  kubectl describe rolebinding readers
  kubectl describe "clusterrolebinding/$ns"
  kubectl get rolebinding readers -o yaml
  kubectl delete "clusterrole/$ns" "clusterrolebinding/$ns"
}

networks_are_stored() {
  kubectl create ingress web --class "$ns" --rule 'a.example.com/*=web:80' \
    --rule 'b.example.com/x=web:http,tls=cert'
  kubectl create -f - <<EOT
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata:
  name: $ns
spec:
  controller: example.com/ingress
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: front
spec:
  podSelector:
    matchLabels:
      tier: front
  policyTypes: [Ingress]
  ingress:
    - ports:
        - port: 80
          protocol: TCP
---
apiVersion: v1
kind: Endpoints
metadata:
  name: outside
subsets:
  - addresses:
      - ip: 10.1.2.3
    ports:
      - port: 443
        protocol: TCP
EOT
  kubectl get ing,netpol
  kubectl get ingressclass "$ns"
  kubectl get ep outside
  kubectl describe netpol front
  kubectl patch ingress web --subresource status --type merge -p \
    '{"status": {"loadBalancer": {"ingress": [{"hostname": "lb.example.com"}]}}}'
  kubectl get ing web -o 'jsonpath={.metadata.generation} {.status}'
  kubectl delete "ingressclass/$ns"
}

jobs_are_stored() {
  # The embedded server warns that no controller makes pods.
  given kubectl create cronjob later --image busybox --schedule '0 0 1 1 *'
  kubectl get cj
  kubectl patch cj later -p '{"spec": {"suspend": true}}'
  kubectl get cj later -o 'jsonpath={.metadata.generation} {.spec.suspend}'
  given kubectl create -f - <<'EOT'
apiVersion: batch/v1
kind: Job
metadata:
  name: held
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: c
          image: busybox
EOT
  kubectl patch job held --subresource status --type merge -p '{"status":
    {"conditions": [{"type": "Suspended", "status": "True"}]}}' >/dev/null
  await Suspended get jobs
  kubectl get jobs
  kubectl delete job held
}

a_role_can_be_applied_and_reconciled() {
  kubectl apply -f - <<'EOT'
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: reader
rules:
  - apiGroups: [""]
    resources: [pods]
    verbs: [get]
EOT
  kubectl auth reconcile -f - <<EOT
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: reader
  namespace: $ns
rules:
  - apiGroups: [""]
    resources: [pods]
    verbs: [list]
EOT
  kubectl get role reader -o 'jsonpath={.rules}'
}
