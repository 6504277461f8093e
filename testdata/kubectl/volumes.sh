# Volumes, claims and storage classes.
# shellcheck shell=bash disable=SC2154

a_claim_gets_a_volume() {
  given_volume "$ns" 'hostPath: {path: /data}'
  kubectl get pv "$ns"
  given_claim data
  await Bound get pvc data
  await NoPodsUsingPVC get pvc data -o yaml
  kubectl get "pv/$ns" pvc/data
  kubectl get pvc data -o wide
  kubectl get pv "$ns" -o wide
  kubectl describe pv "$ns"
  kubectl describe pvc data
  kubectl get pv "$ns" -o yaml
  kubectl get pvc data -o yaml
  kubectl patch pvc data -p '{"spec": {"storageClassName": "other"}}'
  kubectl patch pv "$ns" -p '{"spec": {"hostPath": {"path": "/other"}}}'
  kubectl delete pvc data
  await Released get pv "$ns"
  kubectl get pv "$ns"
  kubectl delete pv "$ns"
}

claims_that_stay_pending() {
  given_claim data
  await ProvisioningFailed describe pvc data
  kubectl get pvc
  kubectl describe pvc data
}

storage_classes() {
  kubectl create -f - <<EOT
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: $ns-wait
  annotations:
    storageclass.kubernetes.io/is-default-class: "true"
provisioner: disk.example.com
parameters:
  kind: fast
allowVolumeExpansion: true
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: $ns
provisioner: disk.example.com
reclaimPolicy: Retain
EOT
  kubectl get sc
  kubectl get sc "$ns-wait"
  kubectl get sc "$ns-wait" -o yaml
  kubectl describe sc "$ns-wait"
  kubectl patch sc "$ns" -p '{"provisioner": "x"}'
  kubectl create -f - <<'EOT'
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
spec:
  accessModes: [ReadWriteOnce]
  resources:
    requests:
      storage: 1Gi
EOT
  await WaitForFirstConsumer describe pvc data
  kubectl get pvc data
  kubectl describe pvc data
  kubectl delete sc "$ns" "$ns-wait"
}

invalid_volumes_and_claims() {
  kubectl create -f - <<EOT
apiVersion: v1
kind: PersistentVolume
metadata:
  name: $ns
spec:
  local:
    path: /data
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
spec:
  accessModes: [ReadWriteOncePod, ReadWriteMany]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
spec:
  accesModes: [ReadWriteOnce]
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: $ns
provisioner: ""
EOT
}

a_pod_follows_its_local_volume() {
  given_class 'provisioner: kubernetes.io/no-provisioner' \
    'volumeBindingMode: WaitForFirstConsumer'
  given_volume "$ns" 'local: {path: /data}' 'nodeAffinity:' '  required:' \
    '    nodeSelectorTerms:' '      - matchExpressions:' \
    '          - key: kubernetes.io/hostname' '            operator: In' \
    '            values: [node-3]'
  given_claim data
  given kubectl run web --image nginx --overrides '{"spec": {"volumes": [
    {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}}'
  running 1
  await PodUsingPVC get pvc data -o yaml
  kubectl get pod web -o 'jsonpath={.spec.nodeName}'
  kubectl get pvc data
  kubectl describe pv "$ns"
  kubectl describe pvc data | sed '/^Events/,$d'
  kubectl delete pvc data --wait=false
  kubectl get pvc data
  kubectl delete pod web --now
  await Released get pv "$ns"
  kubectl get pvc
  kubectl delete pv "$ns"
  kubectl delete sc "$ns"
}

csi_objects() {
  kubectl create -f - <<EOT
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata:
  name: $ns
spec:
  storageCapacity: true
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata:
  name: $ns
spec:
  drivers:
    - name: disk.example.com
      nodeID: a
      topologyKeys: [topology.kubernetes.io/zone]
---
apiVersion: storage.k8s.io/v1
kind: CSIStorageCapacity
metadata:
  name: free
storageClassName: fast
capacity: 10Gi
EOT
  kubectl get csidriver "$ns"
  kubectl get csinode "$ns"
  kubectl get csistoragecapacity
  kubectl describe csinode "$ns"
  kubectl get csidriver "$ns" -o yaml
  kubectl delete "csidriver/$ns" "csinode/$ns"
}
