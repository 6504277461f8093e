// The kinds of objects that the page can show and change: their paths, and a
// template for a new object.

const indent = (text, by) => text.replace(/^(?=.)/gm, by);

const kPod = `schedulerName: SCHEDULER
containers:
- name: main
  image: nginx
  resources:
    requests:
      cpu: 500m
      memory: 256Mi
`;
const kSelector = "selector:\n  matchLabels:\n    app: web\n";
const kReplicas = `replicas: 3
${kSelector}template:
  metadata:
    labels:
      app: web
  spec:
${indent(kPod, "    ")}`;
const kAccess = "accessModes:\n- ReadWriteOnce\n";
const kDisk = `capacity:\n  storage: 10Gi\n${kAccess}hostPath:\n  path: /tmp\n`;
const kRoom = 'allocatable:\n  cpu: "4"\n  memory: 16Gi\n  pods: "110"\n';
const kVolumes = `provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
`;

// Each kind: [path of its API, resource, is namespaced, name, what follows its
// metadata: a spec, or fields of its own].
const kKinds = {
  Pod: ["api/v1", "pods", true, "web", { spec: kPod }],
  Node: ["api/v1", "nodes", false, "new-node",
    { spec: "taints: []\n", status: kRoom }],
  Deployment: ["apis/apps/v1", "deployments", true, "web", { spec: kReplicas }],
  ReplicaSet: ["apis/apps/v1", "replicasets", true, "web", { spec: kReplicas }],
  PriorityClass: ["apis/scheduling.k8s.io/v1", "priorityclasses", false,
    "urgent", "value: 1000\n"],
  Namespace: ["api/v1", "namespaces", false, "team", ""],
  PersistentVolume: ["api/v1", "persistentvolumes", false, "disk",
    { spec: kDisk }],
  PersistentVolumeClaim: ["api/v1", "persistentvolumeclaims", true, "data",
    { spec: `${kAccess}resources:\n  requests:\n    storage: 1Gi\n` }],
  StorageClass: ["apis/storage.k8s.io/v1", "storageclasses", false, "fast",
    kVolumes],
  PodDisruptionBudget: ["apis/policy/v1", "poddisruptionbudgets", true, "web",
    { spec: `minAvailable: 1\n${kSelector}` }],
};

export const kKindNames = Object.keys(kKinds);

export const isNamespaced = (kind) => kKinds[kind][2];

// Returns a new object as YAML.
export function templateOf(kind, scheduler) {
  const [api, , , name, rest] = kKinds[kind];
  const fields = typeof rest === "string" ? rest : Object.entries(rest)
    .map(([field, text]) => `${field}:\n${indent(text, "  ")}`).join("");
  return `apiVersion: ${api.replace(/^apis?\//, "")}
kind: ${kind}
metadata:
  name: ${name}
${fields.replace("SCHEDULER", scheduler ?? "default-scheduler")}`;
}

// Returns the path of an object; without a name, of all objects of the kind;
// without a namespace, of all namespaces.
export function pathOf(kind, namespace, name) {
  if (kind === "Configuration") return "/../config";  // the scheduler's
  const [api, resource] = kKinds[kind];
  const inNamespace = isNamespaced(kind) && namespace
    ? `/namespaces/${encodeURIComponent(namespace)}`
    : "";
  const last = name ? `/${encodeURIComponent(name)}` : "";
  return `/${api}${inNamespace}/${resource}${last}`;
}
