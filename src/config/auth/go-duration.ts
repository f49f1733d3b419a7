/** Durations as Go writes them, which Supabase Auth takes: `24h`, `1h30m`, `1.5h`. */

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6, us: 1e-3, 'µs': 1e-3, 'μs': 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000,
}; // biome-ignore format: a table

/** Longest duration of Go, in milliseconds: 2^63 nanoseconds. */
const maxMs = 9_223_372_036_854;

/** Milliseconds; below zero, with a minus sign, is a time in the past. Null for invalid text. */
export function parseGoDuration(text: string): number | null {
  const [, sign, rest = ''] = /^([+-]?)(.+)$/s.exec(text) ?? [];
  if (rest === '0') return 0;
  if (!/^((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(rest)) return null;
  const parts = rest.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy);
  const sum = [...parts].reduce((total, [, amount, unit]) => total + Number(amount) * (unitMs[unit ?? ''] ?? 0), 0);
  if (sum > maxMs) return null;
  return sign === '-' ? -sum : sum;
}

/** `1h30m`, `300ms`, `0` -> seconds. @throws Error "must be a duration …" */
export function parseDurationSeconds(text: string): number {
  const ms = /^\s*[-+]/.test(text) ? null : parseGoDuration(text.trim());
  if (ms === null) throw new Error('must be a duration such as 60s, 24h or 1h30m');
  return ms / 1000;
}
