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
/** Findings shown of each kind then: the first of these numbers with which the report fits on two screens. */
const shownOfAKind = [3, 2, 1];
const linesOfTwoScreens = 100;

function asText(findings: readonly Finding[]): string {
  const kinds = Map.groupBy(findings, ({ severity, check }) => `${severity.padEnd(7)}  ${check}`);
  if (findings.length <= many || kinds.size === 1) return withSummary(kinds, findings.length);
  const texts = shownOfAKind.map((limit) => withSummary(kinds, limit));
  return texts.find((text) => text.split('\n').length <= linesOfTwoScreens) ?? texts.at(-1)!;
}

/** @param limit Most findings shown of each kind. */
function withSummary(kinds: ReadonlyMap<string, readonly Finding[]>, limit: number): string {
  const parts = [...kinds].map(([kind, all]) => {
    const rest = all.length - limit;
    const more = rest > 0 ? [`  … and ${rest} more: pgreflect check --only ${all[0]!.check}`] : [];
    return [`${kind} (${all.length})`, ...all.slice(0, limit).map(toLines), ...more, ''].join('\n');
  });
  const { error, warning, note } = countFindings([...kinds.values()].flat());
  return [...parts, `${plural(error, 'error')}, ${plural(warning, 'warning')}, ${plural(note, 'note')}.`].join('\n');
}

function toLines({ message, fix }: Finding): string {
  const sql = fix === null ? '' : `\n${(pasteable(fix) ?? unprintable).replaceAll(/^/gm, '      ')}`;
  return `  ${onOneLine(message)}${sql}`;
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
