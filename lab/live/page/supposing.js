// What an attempt would have chosen with other weights.

// Returns the total of each node that the pod fits, in their order. `weights`
// replaces the weights of some plugins.
export function totalsOf(scores, weights) {
  const totals = [];
  for (const { plugin, weight, normalized } of scores) {
    const w = weights[plugin] ?? weight;
    normalized.forEach((score, i) => {
      totals[i] = (totals[i] ?? 0) + score * w;
    });
  }
  return totals;
}

// Returns the indices of the nodes with the highest total. The scheduler picks
// one of them at random.
export function winnersOf(totals) {
  const highest = Math.max(...totals);
  return totals.flatMap((total, i) => (total === highest ? [i] : []));
}

// Returns true if one of the weights differs from the attempt's own.
export function isSupposed(scores, weights) {
  return scores.some(({ plugin, weight }) =>
    (weights[plugin] ?? weight) !== weight);
}

// Returns the marks of the filter plugins for a rejected node: ✓ passes, ✗ is
// the rejection that counts, (✗) is a further one, · did not run.
function marksOfRejected(attempt, rejections) {
  const first = rejections[0];
  let runs = Boolean(first?.plugin);  // else PreFilter excludes the node
  return (attempt.filters ?? []).map((plugin) => {
    const i = rejections.findIndex((rejection) => rejection.plugin === plugin);
    let mark = runs && !skipsFilter(attempt, plugin) ? "✓" : "·";
    if (i === 0) mark = "✗";
    if (i > 0) mark = "(✗)";
    if (first?.plugin === plugin && !attempt.allRejections) runs = false;
    return mark;
  });
}

function skipsFilter(attempt, plugin) {
  return (attempt.points ?? []).some((point) => point.plugin === plugin &&
    point.point === "PreFilter" && point.status === "Skip");
}

// Returns the rows of an attempt's table, the best nodes first, and of those
// the chosen one: {node, marks,
// index, total, wins, reasons, further}. `index` is the node's place in the
// columns of scores.
export function rowsOf(attempt, weights) {
  const fits = attempt.fits ?? [];
  const totals = totalsOf(attempt.scores ?? [], weights);
  const winners = new Set(totals.length > 0 ? winnersOf(totals) : []);
  const marks = (attempt.filters ?? []).map((plugin) =>
    skipsFilter(attempt, plugin) ? "·" : "✓");
  const rows = fits.map((node, index) => ({ node, index, marks,
    total: totals[index], wins: winners.has(index) }));
  const isOther = ({ node }) => Number(node !== attempt.node);
  rows.sort((a, b) => (b.total ?? 0) - (a.total ?? 0) ||
    isOther(a) - isOther(b) || a.index - b.index);
  for (const { node, rejections } of attempt.rejected ?? []) {
    rows.push({ node, marks: marksOfRejected(attempt, rejections),
      reasons: rejections[0]?.reasons.join(", "),
      further: rejections.slice(1) });
  }
  return { rows, tie: winners.size > 1 };
}
