# kubectl get: objects in all output formats.
# shellcheck shell=bash disable=SC2154

get_prints_tables() {
  given_pods
  kubectl get pods
  kubectl get pod web
  kubectl get pod/web pod/db
  kubectl get po -o wide
  kubectl get pods --no-headers
}

get_finds_nothing() {
  kubectl get pods
  kubectl get pods -o name
  kubectl get pods -o yaml
  kubectl get pods,services
  kubectl get all
  kubectl get pods -A --field-selector metadata.name=none
  kubectl get pods -n nowhere
}

get_missing_objects() {
  kubectl get pod none
  kubectl get pod none --ignore-not-found
  kubectl get deployments none
  kubectl get node none
  kubectl get cheese
  kubectl get cheese.dairy/edam
  kubectl get pods/one services two
  kubectl get
}

get_as_yaml() {
  given_pods
  kubectl get pod db -o yaml
  kubectl get pods -l tier=front -o yaml
}

get_as_json() {
  given_pods
  kubectl get pod web -o json
}

get_names() {
  given_pods
  kubectl get pods -o name
  kubectl get pod/api namespace/default -o name
}

get_with_jsonpath() {
  given_pods
  kubectl get pods -o 'jsonpath={.items[*].metadata.name}'
  kubectl get pods -o \
    'jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName}{"\n"}{end}'
  kubectl get pod web -o 'jsonpath={.spec.containers[?(@.name=="nginx")].image}'
  kubectl get pod web -o 'jsonpath={.status.nothing}'
  kubectl get pod web -o 'jsonpath={.status'
}

get_with_custom_columns_and_templates() {
  given_pods
  kubectl get pods -o \
    custom-columns=NAME:.metadata.name,NODE:.spec.nodeName,GONE:.spec.none
  kubectl get pods -o go-template \
    --template '{{range .items}}{{.metadata.name}} {{len .spec.containers}}
{{end}}'
}

get_by_labels() {
  given_pods
  kubectl get pods -l app=web
  kubectl get pods -l app==web,tier=front
  kubectl get pods -l app!=web
  kubectl get pods -l 'app in (web, db)'
  kubectl get pods -l 'app notin (web, db)'
  kubectl get pods -l tier
  kubectl get pods -l '!tier'
  kubectl get pods -l 'tier=back,app notin (db)' -o name
  kubectl get pods -l app=
  kubectl get pods -l 'app=a b'
  kubectl get pods --show-labels
  kubectl get pods -L app,none
}

get_by_fields() {
  given_pods
  given kubectl create -f pending.yaml
  kubectl get pods --field-selector status.phase=Running
  kubectl get pods --field-selector status.phase!=Running
  kubectl get pods --field-selector spec.nodeName=node-1
  kubectl get pods --field-selector spec.nodeName=,status.phase=Pending
  kubectl get pods --field-selector metadata.name=web -l tier=front
  kubectl get pods --field-selector spec.schedulerName=nobody
  kubectl get pods --field-selector spec.restartPolicy=Always -o name
  kubectl get pods --field-selector spec.containers=none
  kubectl get pods --field-selector web
  kubectl get nodes --field-selector spec.unschedulable=true
}

get_sorted() {
  given_pods
  kubectl get pods --sort-by .spec.nodeName
  kubectl get pods --sort-by '{.spec.containers[0].name}' -o name
  kubectl get pods --sort-by .metadata.labels.tier --no-headers
  kubectl get pods --sort-by .nothing.here
}

get_several_kinds() {
  given kubectl create -f stack.yaml
  running 1
  kubectl get pods,pdb
  kubectl get pod/web serviceaccount/web
  kubectl get pod/web service/none
  kubectl get -f stack.yaml -o name
}

get_all() {
  given kubectl create -f deployment.yaml -f stack.yaml
  given kubectl rollout status deployment/web
  running 3
  kubectl get all
}

get_across_namespaces() {
  given kubectl create -f pods.yaml
  given kubectl label pods --all "case=$ns"
  running 3
  kubectl get pods -A -l "case=$ns"
  kubectl get pods --all-namespaces -l "case=$ns" -o wide
  kubectl get pods -A -l "case=$ns" -o name
  kubectl get pods,services -A -l "case=$ns"
  kubectl get pod web -A
}

get_in_pages() {
  given_pods
  kubectl get pods --chunk-size 1
  kubectl get --raw "/api/v1/namespaces/$ns/pods?limit=1" |
    grep -o '"remainingItemCount":[0-9]*'
}

get_watching() {
  given_pods
  watching get pods -w
  shown '^web '
  given kubectl create -f pending.yaml
  shown '^pending '
  given kubectl label pod pending step=1
  given kubectl delete pod pending
  given kubectl delete pod web
  given kubectl create configmap ignored
  given kubectl run last --image=nginx --overrides='{"spec":{"nodeName":"node-1"}}'
  shown '^last .*Running'
  end_watch
}

get_watching_only() {
  given_pods
  watching get pods -l app=late --watch-only -o \
    'jsonpath={.metadata.name} {.status.phase}{"\n"}'
  sleep 1
  given kubectl label pod web app=late --overwrite
  shown web
  given kubectl label pod web app=early --overwrite
  end_watch
}

get_watching_one_object() {
  given kubectl create serviceaccount robot
  watching get serviceaccount robot -w --output-watch-events
  shown ADDED
  given kubectl label serviceaccount robot colour=blue
  shown MODIFIED
  given kubectl delete serviceaccount robot
  shown DELETED
  end_watch
}

get_nodes() {
  given_workers
  kubectl get nodes -l pool=workers
  kubectl get nodes -l pool=workers -o wide
  kubectl get nodes -L topology.kubernetes.io/zone -l pool!=workers
  kubectl get node worker-a -o yaml
  kubectl get node node-1 --show-labels | sed 's/beta[^,]*,//g'
}

get_deployments_and_replicasets() {
  given_deployment
  kubectl get deployments
  kubectl get rs
  kubectl get rs --show-labels
  kubectl get pods -o wide
  kubectl get deployment web -o yaml | without_history
}

get_a_replicaset_and_its_pod_as_yaml() {
  given kubectl create -f deployment.yaml
  given kubectl scale deployment web --replicas 1
  given kubectl rollout status deployment/web
  running 1
  await '^1$' get rs -o 'jsonpath={.items[0].status.availableReplicas}'
  kubectl get rs -o yaml | without_history
  kubectl get pods -o yaml
}

get_the_smaller_kinds() {
  given kubectl create -f stack.yaml
  running 1
  await '^1$' get pdb web -o 'jsonpath={.status.currentHealthy}'
  await kube-root-ca get configmaps
  kubectl get configmaps -o name
  kubectl get pdb
  kubectl get pdb web -o yaml
  kubectl get configmap settings -o yaml
  kubectl get serviceaccounts
  kubectl get namespace "$ns" -o yaml
  kubectl get namespaces kube-system kube-public
  kubectl get priorityclasses
  kubectl get priorityclass system-node-critical -o yaml
}

get_a_subresource() {
  given_deployment
  kubectl get deployment web --subresource status
  kubectl get deployment web --subresource scale -o yaml
  kubectl get configmap none --subresource status
}
