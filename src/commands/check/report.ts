/**
 * Prints the findings of `pgreflect check`: text grouped by kind, JSON, or SARIF 2.1.0 (OASIS) for code hosts.
 */
import { onOneLine, pasteable } from '../../shared/one-line.ts';
import { version } from '../../shared/version.ts';
import { plural } from './check-api.ts';
import type { Finding, Severity } from './finding.ts';

/** @param isReached Whether a finding concerns an object that callers reach. */
type Print = (findings: readonly Finding[], isReached: (finding: Finding) => boolean) => string;

/** The values of `--format`. */
export const formats: ReadonlyMap<string, Print> = new Map<string, Print>([
  ['text', asText],
  ['json', asJson],
  ['sarif', asSarif],
]);

const unprintable = '-- The fix contains control characters, see: pgreflect check --format json';

/** Findings shown per kind, if there are many. */
const shownOfAKind = 3;
const many = 30;

/** Missing parts of granted objects shown: a grant means that the object is expected in the API. */
const shownOfMissing = 20;

function asText(findings: readonly Finding[], isReached: (finding: Finding) => boolean): string {
  const kinds = Map.groupBy(findings, ({ severity, check }) => `${severity.padEnd(7)}  ${check}`);
  const parts = [...kinds].map(([kind, all]) => {
    const missing = all.filter((finding) => finding.check === 'left_out' && isReached(finding)).length;
    const limit = Math.max(shownOfAKind, Math.min(missing, shownOfMissing));
    const shown = findings.length > many && kinds.size > 1 ? all.slice(0, limit) : all;
    const rest = all.length - shown.length;
    const more = `  … and ${rest} more: pgreflect check --only ${all[0]!.check}`;
    return [`${kind} (${all.length})`, ...shown.map(toLines), ...(rest > 0 ? [more] : []), ''].join('\n');
  });
  const { error, warning, note } = countFindings(findings);
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
