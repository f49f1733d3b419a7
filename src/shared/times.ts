/**
 * Converts times between the database, our data and JSON. Internally, a time is in milliseconds since the Unix epoch,
 * with a fraction if the database has microseconds; null is no time. `infinity` of the database is `Infinity`.
 */

/** Milliseconds since the epoch; may have a fraction. */
export type Time = number;

/** Reads a time as statements select it: `(extract(epoch from x) * 1000)::float8`, or the same within JSON. */
export function readTime(value: unknown): Time | null {
  return value === null || value === undefined ? null : Number(value);
}

/** RFC 3339 in UTC with up to six digits of a second: `2026-11-21T10:00:00.25Z`. */
export function toRfc3339(time: Time): string {
  const bounded = Math.min(Math.max(time, -62_135_596_800_000), 253_402_300_799_999);
  const milliseconds = Math.floor(bounded);
  const micros = Math.round((bounded - milliseconds) * 1000);
  // Rounding up reached the next millisecond.
  if (micros === 1000) return toRfc3339(milliseconds + 1);
  const [day, second = ''] = new Date(milliseconds).toISOString().replace('Z', '').split('.');
  const digits = `${second}${String(micros).padStart(3, '0')}`.replace(/0+$/, '');
  return digits === '' ? `${day}Z` : `${day}.${digits}Z`;
}

/** As `toRfc3339`; undefined, which JSON leaves out, for null. */
export function toOptionalRfc3339(time: Time | null): string | undefined {
  return time === null ? undefined : toRfc3339(time);
}

/** A parameter for `::timestamptz`. */
export function toTimestamp(time: Time | null): string | null {
  if (time === null) return null;
  return time === Number.POSITIVE_INFINITY ? 'infinity' : toRfc3339(time);
}

/** Whole seconds since the epoch, rounded down. */
export function toSeconds(time: Time): number {
  return Math.floor(time / 1000);
}
