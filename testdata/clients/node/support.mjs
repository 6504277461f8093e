// Helpers for main.mjs: create, bind, patch and await pods.

import { setTimeout as sleep } from 'node:timers/promises';
import {
  ApiException,
  CoreV1Api,
  KubeConfig,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node';

export const namespace = process.env.NS;
export const kc = new KubeConfig();
kc.loadFromDefault();
export const core = kc.makeApiClient(CoreV1Api);

export const say = (...facts) =>
  console.log(facts.map((f) => (typeof f === 'string' ? f : JSON.stringify(f))).join(' '));

export const names = (list) => list.items.map((o) => o.metadata.name);

// Returns labels sorted by name.
export const labels = (o) => Object.entries(o.metadata.labels ?? {}).sort();

// Polls until `holds` returns true.
export async function eventually(what, holds) {
  for (const deadline = Date.now() + 30_000; !(await holds()); await sleep(100)) {
    if (Date.now() > deadline) throw new Error(`timed out: ${what}`);
  }
}

export async function refused(what, call) {
  try {
    await call;
    say(what, 'is accepted');
  } catch (e) {
    if (!(e instanceof ApiException)) throw e;
    const status = typeof e.body === 'string' ? JSON.parse(e.body) : e.body;
    const message = status.message
      .split('\n')[0]
      .replaceAll(namespace, 'NS')
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, 'UID');
    say(`${what}: ${e.code} ${status.reason}: ${message}`);
    for (const cause of status.details?.causes ?? [])
      say(`  ${cause.reason}: ${cause.field ?? cause.message}`);
  }
}

export const getPod = (name) => core.readNamespacedPod({ name, namespace });

export const isGone = (name) =>
  getPod(name).then(
    () => false,
    (e) => {
      if (e.code !== 404) throw e;
      return true;
    },
  );

// A pod whose scheduler does not exist: it stays pending until bind().
export const newPod = (name, labels = {}, schedulerName = 'nobody') => ({
  metadata: { name, labels },
  spec: { schedulerName, containers: [{ name: 'main', image: 'nginx:1' }] },
});

export const createPod = (name, labels) =>
  core.createNamespacedPod({ namespace, body: newPod(name, labels) });

// Without options the client sends JSON patches.
export const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
export const strategic = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);

export const patchPod = (name, body, options) =>
  core.patchNamespacedPod({ name, namespace, body }, options);

export const bind = (name, node) =>
  core.createNamespacedPodBinding({
    name,
    namespace,
    body: { metadata: { name }, target: { kind: 'Node', name: node } },
  });

// Waits until the pod is Running.
export const runs = (name) =>
  eventually(`${name} runs`, async () => (await getPod(name)).status.phase === 'Running');

export async function runPod(name, labels) {
  await createPod(name, labels);
  await bind(name, 'node-1');
  await runs(name);
}
