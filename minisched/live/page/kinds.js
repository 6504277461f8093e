// The kinds of objects that the page can show and change: their paths, and a
// template for a new object.

const kMeta = (name) => `metadata:\n  name: ${name}\n`;

// Each kind: [path of its API, resource, is namespaced, template].
const kKinds = {
  Pod: ["/api/v1", "pods", true, `${kMeta("web")}spec:
  schedulerName: SCHEDULER
  containers:
  - name: main
    image: nginx
    resources:
      requests:
        cpu: 500m
        memory: 256Mi
`],
  Node: ["/api/v1", "nodes", false, `${kMeta("new-node")}spec:
  taints: []
status:
  allocatable:
    cpu: "4"
    memory: 16Gi
    pods: "110"
`],
  Deployment: ["/apis/apps/v1", "deployments", true, `${kMeta("web")}spec:
  replicas: 3
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      schedulerName: SCHEDULER
      containers:
      - name: main
        image: nginx
        resources:
          requests:
            cpu: 500m
`],
  ReplicaSet: ["/apis/apps/v1", "replicasets", true, `${kMeta("web")}spec:
  replicas: 2
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      schedulerName: SCHEDULER
      containers:
      - name: main
        image: nginx
`],
  PriorityClass: ["/apis/scheduling.k8s.io/v1", "priorityclasses", false,
    `${kMeta("urgent")}value: 1000\n`],
  Namespace: ["/api/v1", "namespaces", false, kMeta("team")],
  PersistentVolume: ["/api/v1", "persistentvolumes", false,
    `${kMeta("disk")}spec:
  capacity:
    storage: 10Gi
  accessModes:
  - ReadWriteOnce
  hostPath:
    path: /tmp/disk
`],
  PersistentVolumeClaim: ["/api/v1", "persistentvolumeclaims", true,
    `${kMeta("data")}spec:
  accessModes:
  - ReadWriteOnce
  resources:
    requests:
      storage: 1Gi
`],
  StorageClass: ["/apis/storage.k8s.io/v1", "storageclasses", false,
    `${kMeta("fast")}provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
`],
  PodDisruptionBudget: ["/apis/policy/v1", "poddisruptionbudgets", true,
    `${kMeta("web")}spec:
  minAvailable: 1
  selector:
    matchLabels:
      app: web
`],
};

export const kKindNames = Object.keys(kKinds);

export function isNamespaced(kind) {
  return kKinds[kind][2];
}

// Returns a new object as YAML.
export function templateOf(kind, scheduler) {
  const [api, , , rest] = kKinds[kind];
  const version = api.replace(/^\/apis?\//, "");
  const text = rest.replace("SCHEDULER", scheduler ?? "default-scheduler");
  return `apiVersion: ${version}\nkind: ${kind}\n${text}`;
}

// Returns the path of an object; without a name, of all objects of the kind;
// without a namespace, of all namespaces.
export function pathOf(kind, namespace, name) {
  const [api, resource] = kKinds[kind];
  const inNamespace = isNamespaced(kind) && namespace
    ? `/namespaces/${encodeURIComponent(namespace)}`
    : "";
  const last = name ? `/${encodeURIComponent(name)}` : "";
  return `${api}${inNamespace}/${resource}${last}`;
}
