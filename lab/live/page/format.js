// The text of times, durations and amounts.

// Returns the local time of day: "19:51:36.684".
export function clockText(ms) {
  const date = new Date(ms);
  const fraction = String(date.getMilliseconds()).padStart(3, "0");
  return `${date.toTimeString().slice(0, 8)}.${fraction}`;
}

// Returns a duration with two digits or so: "250 ms", "1.3 s", "4 min 5 s".
export function durationText(ms) {
  if (ms < 1) return "0 s";
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// Returns an age as kubectl writes it: "45s", "12m", "5h3m", "3d4h".
export function ageText(ms) {
  const s = Math.max(Math.floor(ms / 1000), 0);
  const [m, hours, days] = [60, 3600, 86400].map((n) => Math.floor(s / n));
  if (m < 2) return `${s}s`;
  if (hours < 3) return `${m}m`;
  return hours < 48 ? `${hours}h${m % 60}m` : `${days}d${hours % 24}h`;
}

// Returns the time that is left, in steps that are calm to watch.
export function leftText(ms) {
  if (ms <= 0) return "due";
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  return durationText(Math.ceil(ms / 1000) * 1000);
}

// Returns a number with separators: "10,000".
export const countText = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

// Returns "1 pod" or "3 pods".
export const plural = (n, noun) =>
  `${countText(n)} ${noun}${n === 1 ? "" : "s"}`;

const kUnits = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

// Returns an amount of a resource. CPU comes in thousandths, memory and storage
// come in bytes.
export function amountText(resource, n = 0) {
  if (resource === "cpu") return String(n / 1000);
  if (!/^(memory|ephemeral-stor|hugepages-)/.test(resource)) return String(n);
  let unit = 0;
  for (; Math.abs(n) >= 1024 && unit < kUnits.length - 1; n /= 1024) ++unit;
  return `${Math.round(n * 10) / 10}${kUnits[unit]}`;
}

// Returns the requests of a pod: "cpu 0.5, memory 1Gi".
export function requestsText(requests) {
  return Object.entries(requests ?? {}).filter(([, n]) => n > 0)
    .map(([name, n]) => `${name} ${amountText(name, n)}`).join(", ");
}

// Returns taints as kubectl writes them: "key=value:NoSchedule".
export function taintsText(taints) {
  return (taints ?? []).map(({ key, value, effect }) =>
    `${key}${value ? `=${value}` : ""}:${effect}`).join(", ");
}
