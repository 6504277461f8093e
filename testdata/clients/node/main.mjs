// Everyday use of @kubernetes/client-node.
//
// Works in the namespace $NS and prints the server's answers. The transcript is
// the same on every API server: the program chooses all names and leaves out
// uids, versions and times.

import * as k8s from '@kubernetes/client-node';
import {
  bind,
  core,
  createPod,
  eventually,
  getPod,
  isGone,
  kc,
  labels,
  merge,
  names,
  namespace,
  newPod,
  patchPod,
  refused,
  runPod,
  runs,
  say,
  strategic,
} from './support.mjs';

const apps = kc.makeApiClient(k8s.AppsV1Api);
const coordination = kc.makeApiClient(k8s.CoordinationV1Api);
const policy = kc.makeApiClient(k8s.PolicyV1Api);

const podsPath = `/api/v1/namespaces/${namespace}/pods`;

async function discovery() {
  const version = await kc.makeApiClient(k8s.VersionApi).getCode();
  say(`server version: ${version.major}.${version.minor}`);
  const { groups } = await kc.makeApiClient(k8s.ApisApi).getAPIVersions();
  say('apps:', groups.find((g) => g.name === 'apps').preferredVersion.groupVersion);
  for (const [api, kind] of [
    [core, 'Pod'],
    [core, 'Node'],
    [apps, 'Deployment'],
    [coordination, 'Lease'],
  ]) {
    const { groupVersion, resources } = await api.getAPIResources();
    const found = resources.find((r) => r.kind === kind && !r.name.includes('/'));
    const { name, singularName, namespaced, shortNames = [], verbs } = found;
    say(groupVersion, kind, name, singularName, { namespaced }, shortNames, verbs.sort());
    const subresources = ['binding', 'eviction', 'scale', 'status'];
    say(
      '  with',
      subresources.filter((s) => resources.some((r) => r.name === `${name}/${s}`)),
    );
  }
}

async function access() {
  const review = await kc
    .makeApiClient(k8s.AuthorizationV1Api)
    .createSelfSubjectAccessReview({
      body: { spec: { resourceAttributes: { namespace, verb: 'create', resource: 'pods' } } },
    });
  say('may create pods:', review.status.allowed);
}

// The client that finds the path of each kind by discovery.
async function objects() {
  const client = k8s.KubernetesObjectApi.makeApiClient(kc);
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace } };
  const created = await client.create({ ...map, data: { color: 'red' } });
  say('object create:', created.kind, created.data);
  say('object patch:', (await client.patch({ ...map, data: { color: 'blue' } })).data);
  say('object read:', (await client.read(map)).data);
  say('object delete:', (await client.delete(map)).status);
  await refused('object read', client.read(map));
}

async function createAndList() {
  const pod = await createPod('web-1', { app: 'web', tier: 'a' });
  const { spec, status } = pod;
  say('created:', status.phase, spec.restartPolicy, status.qosClass, labels(pod));
  say('created a moment ago:', Date.now() - pod.metadata.creationTimestamp < 60_000);
  await createPod('web-2', { app: 'web', tier: 'b' });
  await createPod('job-1', { app: 'job' });
  say('got:', labels(await getPod('web-2')));
  const list = async (query) => names(await core.listNamespacedPod({ namespace, ...query }));
  for (const labelSelector of ['app=web', 'app in (web,job),tier!=a', '!tier'])
    say(`labels ${labelSelector}:`, await list({ labelSelector }));
  for (const fieldSelector of [
    'metadata.name=web-1',
    'spec.nodeName=,status.phase=Pending',
    'spec.schedulerName!=nobody',
  ])
    say(`fields ${fieldSelector}:`, await list({ fieldSelector }));
  say(
    'nodes in zone-b:',
    names(await core.listNode({ labelSelector: 'topology.kubernetes.io/zone=zone-b' })),
  );
}

async function pages() {
  let _continue;
  do {
    const page = await core.listNamespacedPod({ namespace, limit: 2, _continue });
    say('page:', names(page), page.metadata.remainingItemCount ?? 'the last');
    _continue = page.metadata._continue;
  } while (_continue);
}

async function patches() {
  const show = (how, pod) => say(`${how}:`, labels(pod), pod.spec.containers[0].image);
  show(
    'strategic',
    await patchPod(
      'web-1',
      { spec: { containers: [{ name: 'main', image: 'nginx:2' }] } },
      strategic,
    ),
  );
  show(
    'json',
    await patchPod('web-1', [
      { op: 'test', path: '/metadata/labels/tier', value: 'a' },
      { op: 'add', path: '/metadata/labels/color', value: 'red' },
      { op: 'remove', path: '/metadata/labels/tier' },
    ]),
  );
  show(
    'merge',
    await patchPod('web-1', { metadata: { labels: { color: null, size: 'big' } } }, merge),
  );
  let pod;
  for (const condition of [
    { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room' },
    { type: 'example.com/Fed', status: 'True' },
  ]) {
    const body = { status: { conditions: [condition] } };
    pod = await core.patchNamespacedPodStatus({ name: 'web-1', namespace, body }, strategic);
  }
  say('status:', pod.status.conditions.map((c) => [c.type, c.status, c.reason]).sort());
}

async function errors() {
  await refused('get', getPod('nobody'));
  await refused('create again', createPod('web-1'));
  await refused('bad name', createPod('Web_1'));
  const stale = await getPod('web-2');
  await patchPod('web-2', { metadata: { labels: { a: 'b' } } }, merge);
  stale.metadata.labels.a = 'c';
  await refused(
    'stale update',
    core.replaceNamespacedPod({ name: 'web-2', namespace, body: stale }),
  );
  await refused('new node', patchPod('web-2', { spec: { nodeName: 'node-2' } }, merge));
  await refused(
    'bad test',
    patchPod('web-2', [{ op: 'test', path: '/metadata/labels/a', value: 'c' }]),
  );
  await refused(
    'bad selector',
    core.listNamespacedPod({ namespace, fieldSelector: 'spec.color=red' }),
  );
  const body = { preconditions: { uid: 'another' } };
  await refused('other uid', core.deleteNamespacedPod({ name: 'web-2', namespace, body }));
}

async function watching() {
  const { resourceVersion } = (await core.listNamespacedPod({ namespace })).metadata;
  await createPod('seen', { app: 'seen' });
  await patchPod('seen', { metadata: { labels: { a: 'b' } } }, merge);
  await core.deleteNamespacedPod({ name: 'seen', namespace });
  const query = { resourceVersion, labelSelector: 'app=seen', timeoutSeconds: 30 };
  await new Promise((resolve, reject) => {
    const watch = new k8s.Watch(kc).watch(
      podsPath,
      query,
      async (type, pod) => {
        say('watch:', type, pod.metadata.name, labels(pod));
        if (type === 'DELETED') (await watch).abort();
      },
      (err) => (err === null || err.name === 'AbortError' ? resolve() : reject(err)),
    );
  });
}

async function informing() {
  const labelSelector = 'app=told';
  const list = () => core.listNamespacedPod({ namespace, labelSelector });
  const informer = k8s.makeInformer(kc, podsPath, list, labelSelector);
  const events = [];
  for (const type of ['add', 'update', 'delete'])
    informer.on(type, (pod) => events.push([type, pod.metadata.name, labels(pod)]));
  await createPod('told-1', { app: 'told' });
  await informer.start();
  await createPod('told-2', { app: 'told' });
  await patchPod('told-2', { metadata: { labels: { a: 'b' } } }, merge);
  await eventually('the informer sees both', () => events.length === 3);
  say(
    "informer's cache:",
    informer.list(namespace).map((p) => p.metadata.name),
  );
  await patchPod('told-1', { metadata: { labels: { app: 'else' } } }, merge);
  await core.deleteNamespacedPod({ name: 'told-2', namespace });
  await eventually('the informer sees the end of both', () => events.length === 6);
  for (const event of events) say('informer:', ...event);
  say("informer's cache:", informer.list(namespace));
  await informer.stop();
  await core.deleteNamespacedPod({ name: 'told-1', namespace });
}

async function binding() {
  // The server returns a Status, although the client declares another type.
  say('bind:', (await bind('web-1', 'node-1')).kind);
  await runs('web-1');
  const pod = await getPod('web-1');
  say(
    'bound:',
    pod.spec.nodeName,
    pod.status.phase,
    pod.status.containerStatuses.map((s) => [s.name, s.ready]),
  );
  await refused('bind again', bind('web-1', 'node-2'));
  await refused('bind nobody', bind('nobody', 'node-2'));
}

async function evicting() {
  const evict = (name) =>
    core.createNamespacedPodEviction({ name, namespace, body: { metadata: { name } } });
  const budget = { name: 'precious', namespace };
  await runPod('precious', { app: 'precious' });
  await policy.createNamespacedPodDisruptionBudget({
    namespace,
    body: {
      metadata: { name: 'precious' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'precious' } } },
    },
  });
  await eventually(
    'the budget counts',
    async () =>
      (await policy.readNamespacedPodDisruptionBudgetStatus(budget)).status?.currentHealthy === 1,
  );
  await refused('evict precious', evict('precious'));
  await policy.deleteNamespacedPodDisruptionBudget(budget);
  say('evict precious:', (await evict('precious')).kind);
  await eventually('precious goes', () => isGone('precious'));
  await refused('evict nobody', evict('nobody'));
}

async function deleting() {
  const graceful = await core.deleteNamespacedPod({
    name: 'web-1',
    namespace,
    gracePeriodSeconds: 5,
  });
  say(
    'delete with grace:',
    graceful.kind,
    graceful.metadata.deletionGracePeriodSeconds,
    graceful.metadata.deletionTimestamp instanceof Date,
  );
  await eventually('web-1 goes', () => isGone('web-1'));
  await runPod('brief');
  const atOnce = await core.deleteNamespacedPod({
    name: 'brief',
    namespace,
    gracePeriodSeconds: 0,
  });
  say('delete at once:', atOnce.kind, await isGone('brief'));
  await createPod('doomed-1', { app: 'doomed' });
  await createPod('doomed-2', { app: 'doomed' });
  const all = await core.deleteCollectionNamespacedPod({ namespace, labelSelector: 'app=doomed' });
  say('delete a collection:', all.kind);
  say('left:', names(await core.listNamespacedPod({ namespace })));
  await refused('delete', core.deleteNamespacedPod({ name: 'doomed-1', namespace }));
}

async function scaling() {
  const shop = { name: 'shop', namespace };
  const ready = async (number) => {
    await eventually(`${number} replicas`, async () => {
      const { status } = await apps.readNamespacedDeploymentStatus(shop);
      return [status.replicas, status.readyReplicas, status.updatedReplicas].every(
        (n) => n === number,
      );
    });
    say('ready:', number);
  };
  const { metadata, spec } = newPod(undefined, { app: 'shop' }, 'default-scheduler');
  const template = { metadata, spec };
  const deployment = await apps.createNamespacedDeployment({
    namespace,
    body: {
      metadata: { name: 'shop' },
      spec: { replicas: 2, selector: { matchLabels: { app: 'shop' } }, template },
    },
  });
  say(
    'deployment:',
    deployment.spec.replicas,
    deployment.spec.strategy.type,
    deployment.spec.strategy.rollingUpdate.maxSurge,
  );
  await ready(2);
  for (const replicas of [3, 1]) {
    const scale = await apps.patchNamespacedDeploymentScale(
      { ...shop, body: { spec: { replicas } } },
      merge,
    );
    say('scaled:', scale.kind, scale.spec.replicas, scale.status.selector);
    await ready(replicas);
  }
  const scale = await apps.readNamespacedDeploymentScale(shop);
  say('scale:', scale.spec.replicas, scale.status.replicas);
  say(
    'deployment deleted:',
    (await apps.deleteNamespacedDeployment({ ...shop, propagationPolicy: 'Background' })).status,
  );
  const pods = { namespace, labelSelector: 'app=shop' };
  await eventually(
    "the shop's pods go",
    async () => !(await core.listNamespacedPod(pods)).items.length,
  );
}

const getLease = (name) => coordination.readNamespacedLease({ name, namespace });

// Times of leases have microseconds. The client returns them as text.
const fromNow = (seconds) => new k8s.V1MicroTime(Date.now() + seconds * 1000);

const renew = (lease, spec) =>
  coordination.replaceNamespacedLease({
    name: lease.metadata.name,
    namespace,
    body: { ...lease, spec: { ...lease.spec, ...spec } },
  });

async function leases() {
  const renewTime = fromNow(0);
  const spec = { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime };
  const lease = await coordination.createNamespacedLease({
    namespace,
    body: { metadata: { name: 'beat' }, spec },
  });
  say('lease:', lease.spec.holderIdentity, lease.spec.renewTime === renewTime.toISOString());
  const renewed = await renew(lease, {
    renewTime: new k8s.V1MicroTime(renewTime.getTime() + 5000),
  });
  say('renewed:', new Date(renewed.spec.renewTime) - renewTime);
  await refused('stale renewal', renew(lease, { renewTime: fromNow(10) }));
  await coordination.deleteNamespacedLease({ name: 'beat', namespace });
  await refused('lease', getLease('beat'));
}

// The client has no leader election. Users write one with a Lease: its
// resourceVersion lets only one of two candidates succeed.
async function leaderElection() {
  const spec = (holderIdentity) => ({
    holderIdentity,
    leaseDurationSeconds: 2,
    acquireTime: fromNow(0),
    renewTime: fromNow(0),
  });
  const isFree = ({ spec }) =>
    !spec.holderIdentity ||
    Date.parse(spec.renewTime) + spec.leaseDurationSeconds * 1000 < Date.now();
  const create = (who) =>
    coordination.createNamespacedLease({
      namespace,
      body: { metadata: { name: 'leader' }, spec: spec(who) },
    });

  say('a leads:', (await create('a')).spec.holderIdentity);
  await refused('b creates too', create('b'));
  say('b may take over:', isFree(await getLease('leader')));
  await eventually("a's lease runs out", async () => isFree(await getLease('leader')));
  const expired = await getLease('leader');
  const taken = await renew(expired, { ...spec('b'), leaseTransitions: 1 });
  say('b leads:', taken.spec.holderIdentity, taken.spec.leaseTransitions);
  await refused('a renews', renew(expired, spec('a')));
  await renew(taken, { holderIdentity: '' });
  say('b released it:', isFree(await getLease('leader')));
}

for (const part of [
  discovery,
  access,
  objects,
  createAndList,
  pages,
  patches,
  errors,
  watching,
  informing,
  binding,
  evicting,
  deleting,
  scaling,
  leases,
  leaderElection,
]) {
  say(`# ${part.name}`);
  await part();
}
