/** What a gateway has logged, in short. */

/** Lines of the log that say the same, with their number. */
export function summarize(lines: readonly string[]): ReadonlyMap<string, number> {
  const summary = new Map<string, number>();
  for (const text of lines.flatMap((line) => readLine(line) ?? [])) summary.set(text, (summary.get(text) ?? 0) + 1);
  return summary;
}

/** A line as it reads without what is different each time; null for what is no whole entry of the log. */
function readLine(line: string): string | null {
  // A process that was killed may have left a part of one.
  if (!/^\{.*\}$/.test(line)) return null;
  const {
    msg,
    path = '',
    status = '',
    reason = '',
    err,
  } = JSON.parse(line) as {
    readonly msg: string;
    readonly path?: string;
    readonly status?: number;
    readonly reason?: string;
    readonly err?: { readonly message: string; readonly sqlstate?: string };
  };
  const text = [msg, path, status, reason, err?.sqlstate ?? '', err?.message ?? '']
    .filter((part) => part !== '')
    .join(' ');
  return text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID');
}
