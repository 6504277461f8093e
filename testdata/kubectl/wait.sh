# kubectl wait and events.
# shellcheck shell=bash disable=SC2154

wait_for_conditions() {
  given kubectl create -f pods.yaml -f pending.yaml
  kubectl wait pod/web --for condition=Ready
  kubectl wait pods -l tier=back --for condition=Ready=True --timeout 20s
  kubectl wait pod/pending --for condition=Ready --timeout 1s
  kubectl wait pod/pending --for condition=PodScheduled=False --timeout 1s
  kubectl wait pod/none --for condition=Ready --timeout 1s
  kubectl wait pods -l app=none --for condition=Ready --timeout 1s
  given kubectl create -f deployment.yaml
  kubectl wait deployment/web --for condition=Available --timeout 20s
}

wait_for_deletion() {
  given_pods
  kubectl wait pod/web --for delete --timeout 1s
  given kubectl delete pod web --wait=false
  kubectl wait pod/web --for delete --timeout 20s
  kubectl wait pod/none --for delete
}

wait_for_a_value() {
  given kubectl create -f pods.yaml
  kubectl wait pod/web --for 'jsonpath={.status.phase}=Running' --timeout 20s
  kubectl wait pod/web --for 'jsonpath={.spec.nodeName}'
  kubectl wait pod/web --for 'jsonpath={.status.phase}=Gone' --timeout 1s
  kubectl wait pod/web --for create
  kubectl wait pod/none --for create --timeout 1s
  kubectl wait pod/web --for happiness
}

wait_for_a_later_creation() {
  kubectl wait pod/pending --for create --timeout 20s &
  sleep 1
  given kubectl create -f pending.yaml
  wait
}

events_of_pods_and_their_owners() {
  given kubectl create -f deployment.yaml
  given kubectl scale deployment web --replicas 1
  given kubectl rollout status deployment/web
  running 1
  await Scheduled get events
  await ScalingReplicaSet get events
  kubectl get events | sorted
  kubectl get events --field-selector reason=Scheduled
  kubectl get events --field-selector involvedObject.kind=Deployment
  kubectl events | sorted
  kubectl events --types Warning
  kubectl events --for deployment/web
  kubectl events --for pod/none
}

events_that_a_user_makes() {
  kubectl create -f - <<EOT
apiVersion: v1
kind: Event
metadata:
  name: mine
involvedObject:
  apiVersion: v1
  kind: Pod
  namespace: $ns
  name: web
reason: Tested
message: It was tested.
type: Normal
source:
  component: tester
count: 3
EOT
  kubectl create -f - <<EOT
apiVersion: events.k8s.io/v1
kind: Event
metadata:
  name: new
regarding:
  apiVersion: v1
  kind: Pod
  namespace: $ns
  name: web
reason: Tried
note: It was tried.
type: Warning
action: Try
reportingController: example.com/tester
reportingInstance: tester-1
eventTime: "2030-01-02T03:04:05.678901Z"
EOT
  kubectl get events
  kubectl get events.events.k8s.io
  kubectl get events new -o yaml
  kubectl get events.events.k8s.io mine -o yaml
}
