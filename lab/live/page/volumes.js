// Claims and volumes: where the nodes of a volume are, and who uses a claim.

// The last part of the key of a label: "zone" of "topology.kubernetes.io/zone".
const short = (key) => key.slice(key.lastIndexOf("/") + 1);

const isOfZone = (key) => /^(topology|failure-domain\.beta)\.kubernetes\.io\//
  .test(key);

// Returns the nodes that can mount a volume: "zone in b, c". "" means all.
export function nodesOfVolume({ metadata, spec }) {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const labels = Object.entries(metadata?.labels ?? {})
    .filter(([key]) => isOfZone(key))
    .map(([key, zones]) => `${short(key)} in ${zones.split("__").join(", ")}`);
  const affinity = terms.map(({ matchExpressions, matchFields }) =>
    [...matchExpressions ?? [], ...matchFields ?? []].map(
      ({ key, operator, values }) =>
        [short(key), operator === "In" ? "in" : operator, values?.join(", ")]
          .filter(Boolean).join(" ")).join(" and ")).join(" or ");
  return [affinity, ...labels].filter(Boolean).join("; ");
}

// Returns the names of the pods that use each claim, by "namespace/name".
export function podsByClaim(tables) {
  const users = new Map();
  for (const { row, deleted } of tables.pods.values()) {
    for (const claim of deleted ? [] : row?.claims ?? []) {
      const key = `${row.namespace}/${claim}`;
      users.set(key, [...users.get(key) ?? [], row.name]);
    }
  }
  return users;
}
