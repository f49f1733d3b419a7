/**
 * Groups what the API leaves out by the reason: a report that is shortened shows one of each.
 */
import type { Finding, FindingKind } from './finding.ts';

const withReasons: ReadonlySet<FindingKind> = new Set(['left_out', 'read_only']);

/** Findings of one kind, those with the same reason together, in order. Other kinds are one group. */
export function groupByReason(findings: readonly Finding[]): readonly (readonly Finding[])[] {
  return [...Map.groupBy(findings, reasonOf).values()];
}

const name = String.raw`(?:"(?:[^"]|"")+"|[\p{L}_][\p{L}\p{N}_$]*)`;
/** Text that names an object or a type: qualified, quoted, in parentheses, or after the words for what it is. */
const names = new RegExp(
  String.raw`${name}(?:\.${name})+|"(?:[^"]|"")+"|\([^)]*\)|(?<=\b(?:argument|column|foreign key|function|member|role|type) )${name}`,
  'gu',
);

/** The sentence without names and numbers. */
function reasonOf({ check, object, message }: Finding): string {
  if (!withReasons.has(check)) return check;
  const [reason = ''] = message.split(' The same is true of ');
  return reason
    .replaceAll(object ?? names, '…')
    .replaceAll(names, '…')
    .replaceAll(/\d+/g, '#');
}
