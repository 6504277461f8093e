# Versions, API resources, access reviews and health of the server.
# shellcheck shell=bash disable=SC2154

version_of_client_and_server() {
  kubectl version
  kubectl cluster-info
}

raw_paths() {
  kubectl get --raw /healthz
  kubectl get --raw /livez
  kubectl get --raw /readyz
  # Only the version is compared, not the build.
  kubectl get --raw /version | grep -Eo '"(major|minor)": ?"[0-9]+"' |
    tr -d ' '
  kubectl get --raw /api/v1/namespaces/default/pods/none
  kubectl get --raw /apis/apps/v1/nothing
  kubectl get --raw /apis/nothing/v1
  kubectl get --raw /nothing
}

# The kinds that the embedded server has. The real server has others too.
kinds='^NAME |^(bindings|configmaps|endpoints|events|namespaces|nodes|persisten'
kinds+='tvolumeclaims|persistentvolumes|pods|replicationcontrollers|secrets|ser'
kinds+='vices|deployments|replicasets|statefulsets|cronjobs|jobs|leases|endpoin'
kinds+='tslices|ingresses|ingressclasses|networkpolicies|poddisruptionbudgets|p'
kinds+='riorityclasses|(cluster)?role(binding)?s|csidrivers|csinodes|csistorage'
kinds+='capacities|storageclasses|volumeattachments|deviceclasses|devicetaintru'
kinds+='les|resourceclaims|resourceslices|selfsubjectreviews|(local|self)?subje'
kinds+='ctaccessreviews|selfsubjectrulesreviews) '
groups='^(apps|authentication.k8s.io|authorization.k8s.io|batch|coordination.k8s'
groups+='.io|discovery.k8s.io|events.k8s.io|networking.k8s.io|policy|rbac.autho'
groups+='rization.k8s.io|resource.k8s.io|scheduling.k8s.io|storage.k8s.io)/v1$|^'
groups+='v1$'

api_resources_that_scheduling_needs() {
  kubectl api-resources | grep -E "$kinds"
}

api_resources_wide_have_their_verbs_and_categories() {
  kubectl api-resources -o wide | grep -E "$kinds"
}

api_resources_of_one_group() {
  kubectl api-resources --api-group policy
  kubectl api-resources --api-group scheduling.k8s.io -o name
  kubectl api-resources --api-group nothing
}

api_versions_that_scheduling_needs() {
  kubectl api-versions | grep -E "$groups"
}

access_reviews() {
  kubectl auth can-i list pods
  kubectl auth can-i create nothing.example.com
  kubectl auth can-i '*' '*' --all-namespaces
  kubectl auth can-i get /metrics
  # These rules include the further ones of the real server's user.
  kubectl auth can-i --list | tr -s ' ' | grep -F '[*]'
  kubectl create -o 'jsonpath={.status}' -f - <<'EOT'
apiVersion: authorization.k8s.io/v1
kind: SubjectAccessReview
spec:
  groups: [system:masters]
  resourceAttributes: {verb: delete, resource: nodes}
EOT
  kubectl create -f - <<'EOT'
apiVersion: authorization.k8s.io/v1
kind: SelfSubjectAccessReview
spec: {}
EOT
}

no_metrics() {
  kubectl top nodes
  kubectl top pods
}
