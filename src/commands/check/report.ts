/**
 * Prints the findings of `pgreflect check`: text grouped by kind, JSON, or SARIF 2.1.0 (OASIS) for code hosts.
 */
import { onOneLine, pasteable } from '../../shared/one-line.ts';
import { version } from '../../shared/version.ts';
import { plural } from './check-api.ts';
import type { Finding, Severity } from './finding.ts';

/** The values of `--format`. */
export const formats: ReadonlyMap<string, (findings: readonly Finding[]) => string> = new Map([
  ['text', asText],
  ['json', asJson],
  ['sarif', asSarif],
]);

const unprintable = '-- The fix contains control characters, see: pgreflect check --format json';

/** More findings than these are shortened. */
const many = 30;
/** What is shown then of each kind, and of each fix: the first of these with which the report fits on two screens. */
const limits: readonly Limit[] = [
  { findings: 3, lines: Number.POSITIVE_INFINITY },
  { findings: 3, lines: 4 },
  { findings: 2, lines: 4 },
  { findings: 1, lines: 4 },
];
const shortest: Limit = { findings: 1, lines: 2, isDense: true };
const linesOfTwoScreens = 100;

function asText(findings: readonly Finding[]): string {
  const kinds = Map.groupBy(findings, ({ severity, check }) => `${severity.padEnd(7)}  ${check}`);
  if (findings.length <= many || kinds.size === 1) return withSummary(kinds, all);
  const texts = limits.map((limit) => withSummary(kinds, limit));
  return texts.find((text) => text.split('\n').length <= linesOfTwoScreens) ?? withSummary(kinds, shortest);
}

/** The most that is shown. */
interface Limit {
  /** Of one kind. */
  readonly findings: number;
  /** Of one fix, which is cut between statements. */
  readonly lines: number;
  /** No empty lines between kinds. */
  readonly isDense?: boolean;
}

const all: Limit = { findings: Number.POSITIVE_INFINITY, lines: Number.POSITIVE_INFINITY };

function withSummary(kinds: ReadonlyMap<string, readonly Finding[]>, limit: Limit): string {
  const parts = [...kinds].map(([kind, found]) => {
    const rest = found.length - limit.findings;
    const more = rest > 0 ? [`  … and ${rest} more: pgreflect check --only ${found[0]!.check}`] : [];
    const shown = found.slice(0, limit.findings).map((finding) => toLines(finding, limit));
    const end = limit.isDense ? [] : [''];
    return [`${kind} (${found.length})`, ...shown, ...more, ...end].join('\n');
  });
  const { error, warning, note } = countFindings([...kinds.values()].flat());
  return [...parts, `${plural(error, 'error')}, ${plural(warning, 'warning')}, ${plural(note, 'note')}.`].join('\n');
}

function toLines({ check, message, fix }: Finding, limit: Limit): string {
  const printable = fix && cutLines(pasteable(fix) ?? unprintable, check, limit);
  const sql = printable === null ? '' : `\n${printable.replaceAll(/^/gm, '      ')}`;
  return `  ${onOneLine(message)}${sql}`;
}

function cutLines(fix: string, check: string, { lines: limit }: Limit): string {
  const lines = fix.split('\n');
  const end = lines.findIndex((line, at) => at >= limit - 2 && /^--|;$/.test(line)) + 1;
  const more = `-- … and ${lines.length - end} more lines: pgreflect check --only ${check}`;
  return end === 0 || lines.length - end < 2 ? fix : [...lines.slice(0, end), more].join('\n');
}

function asJson(findings: readonly Finding[]): string {
  const { error, warning, note } = countFindings(findings);
  return JSON.stringify({ errors: error, warnings: warning, notes: note, findings }, null, 2);
}

function asSarif(findings: readonly Finding[]): string {
  const rules = [...new Set(findings.map(({ check }) => check))].map((id) => ({ id }));
  const results = findings.map(({ check, severity, object, message, fix }) => ({
    ruleId: check,
    level: severity,
    message: { text: message },
    ...(object === null ? {} : { locations: [{ logicalLocations: [{ fullyQualifiedName: object }] }] }),
    ...(fix === null ? {} : { properties: { fix } }),
  }));
  const driver = { name: 'pgreflect check', version, rules };
  const $schema = 'https://json.schemastore.org/sarif-2.1.0.json';
  return JSON.stringify({ $schema, version: '2.1.0', runs: [{ tool: { driver }, results }] }, null, 2);
}

function countFindings(findings: readonly Finding[]): Readonly<Record<Severity, number>> {
  const count = (severity: Severity) => findings.filter((finding) => finding.severity === severity).length;
  return { error: count('error'), warning: count('warning'), note: count('note') };
}
