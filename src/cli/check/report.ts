/** Prints the findings of `pgreflect check`: text grouped by kind, JSON, or SARIF 2.1.0 (OASIS) for code hosts. */
import pluralize from 'pluralize';
import type { Finding, Severity } from '../../check/finding.ts';
import { onOneLine, pasteable } from '../../shared/one-line.ts';
import { version } from '../../shared/version.ts';

/** Prints findings. @param typed The command line of this report, for the hint that names what a shortened one left out. */
type Format = (findings: readonly Finding[], typed: string) => string;

/** The values of `--format`. */
export const formats: ReadonlyMap<string, Format> = new Map([
  ['text', asText],
  ['json', asJson],
  ['sarif', asSarif],
]);

const unprintable = '-- The fix contains control characters, see --format json.';
const untypeable = 'The command contains control characters, see --format json.';

/** More findings than these are shortened. */
const many = 30;
/** So many findings with the same reason stay apart. */
const few = 3;
/** What is shown then of each kind, and of each fix: the first of these with which the report fits on two screens. */
const limits: readonly Limit[] = [
  { reasons: 12, names: 10, lines: 8 },
  { reasons: 6, names: 5, lines: 4 },
  { reasons: 3, names: 3, lines: 4 },
];
const shortest: Limit = { reasons: 1, names: 3, lines: 2, isDense: true };
const linesOfTwoScreens = 100;

function asText(findings: readonly Finding[], typed: string): string {
  const kinds = Map.groupBy(findings, ({ severity, check }) => `${severity.padEnd(7)}  ${check}`);
  const { error, warning, note } = countFindings(findings);
  const summary = `${pluralize('error', error, true)}, ${pluralize('warning', warning, true)}, ${pluralize('note', note, true)}.`;
  if (findings.length <= many || kinds.size === 1) return [...printKinds(kinds, all), summary].join('\n');
  const texts = [...limits, shortest].map((limit) => [...printKinds(kinds, limit), summary].join('\n'));
  const text = texts.find((one) => one.split('\n').length < linesOfTwoScreens) ?? texts.at(-1)!;
  return `${text}\nAll findings of one kind, with all of their SQL: ${typed} --only KIND`;
}

interface Limit {
  /** Reasons of one kind. */
  readonly reasons: number;
  /** Other objects with the same reason. */
  readonly names: number;
  /** Of one fix, which is cut between statements. */
  readonly lines: number;
  /** No empty lines between kinds. */
  readonly isDense?: boolean;
}

const all: Limit = {
  reasons: Number.POSITIVE_INFINITY,
  names: Number.POSITIVE_INFINITY,
  lines: Number.POSITIVE_INFINITY,
};

function printKinds(kinds: ReadonlyMap<string, readonly Finding[]>, limit: Limit): readonly string[] {
  const end = limit.isDense ? [] : [''];
  return [...kinds].map(([kind, found]) =>
    [`${kind} (${found.length})`, ...printKind(found, limit), ...end].join('\n'),
  );
}

/** Findings of one kind, those with the same reason as one. */
function printKind(found: readonly Finding[], limit: Limit): readonly string[] {
  const reasons = limit === all && found.length <= many ? found.map((one) => [one]) : groupAlike(found);
  const lines = reasons.slice(0, limit.reasons).map((alike) => toLines(mergeAlike(alike, limit), limit));
  const rest = reasons.slice(limit.reasons).flat().length;
  return rest > 0 ? [...lines, `  … and ${rest} more`] : lines;
}

/** Findings with the same reason together, in the order of their first; a few stay apart. */
function groupAlike(found: readonly Finding[]): readonly (readonly Finding[])[] {
  return [...Map.groupBy(found, reasonOf).values()].flatMap((alike) =>
    alike.length <= few ? alike.map((one) => [one]) : [alike],
  );
}

/** The first of the findings, with the objects and the SQL of all. */
function mergeAlike(alike: readonly Finding[], { names: limit }: Limit): Finding {
  const [first, ...others] = alike as readonly [Finding, ...Finding[]];
  const objects = [...new Set(others.flatMap(({ object }) => object ?? []))].filter(
    (object) => object !== first.object,
  );
  if (others.length === 0) return first;
  const shown = `${objects.slice(0, limit).join(', ')}${objects.length > limit ? ', …' : ''}`;
  const fixes = alike.flatMap(({ fix }) => fix ?? []);
  return {
    ...first,
    message: `${first.message} And ${others.length} more like this${objects.length === 0 ? '.' : `: ${shown}`}`,
    fix: fixes.length === 0 ? null : fixes.join('\n'),
  };
}

function toLines({ message, fix, command }: Finding, limit: Limit): string {
  const typed = command === undefined ? null : (pasteable(command) ?? untypeable);
  const printable = fix === null ? typed : cutLines(pasteable(fix) ?? unprintable, limit);
  const lines = printable === null ? '' : `\n${printable.replaceAll(/^/gm, '      ')}`;
  return `  ${onOneLine(message)}${lines}`;
}

function cutLines(fix: string, { lines: limit }: Limit): string {
  const lines = fix.split('\n');
  const end = lines.findIndex((line, at) => at >= limit - 2 && /^--|;$/.test(line)) + 1;
  const more = `-- … and ${lines.length - end} more lines`;
  return end === 0 || lines.length - end < 2 ? fix : [...lines.slice(0, end), more].join('\n');
}

function asJson(findings: readonly Finding[]): string {
  const { error, warning, note } = countFindings(findings);
  return JSON.stringify({ errors: error, warnings: warning, notes: note, findings }, null, 2);
}

function asSarif(findings: readonly Finding[]): string {
  const rules = [...new Set(findings.map(({ check }) => check))].map((id) => ({ id }));
  const results = findings.map(({ check, severity, object, message, fix, command, place }) => ({
    ruleId: check,
    level: severity,
    message: { text: message },
    ...(object === null ? {} : { locations: [locationOf(object, place)] }),
    ...((fix !== null || command !== undefined) && { properties: { ...(fix !== null && { fix }), command } }),
  }));
  const driver = { name: 'pgreflect check', version, rules };
  const $schema = 'https://json.schemastore.org/sarif-2.1.0.json';
  return JSON.stringify({ $schema, version: '2.1.0', runs: [{ tool: { driver }, results }] }, null, 2);
}

function locationOf(object: string, place: Finding['place']) {
  if (place === undefined) return { logicalLocations: [{ fullyQualifiedName: object }] };
  const { file: uri, line: startLine, column: startColumn } = place;
  return { physicalLocation: { artifactLocation: { uri }, region: { startLine, startColumn } } };
}

function countFindings(findings: readonly Finding[]): Readonly<Record<Severity, number>> {
  const count = (severity: Severity) => findings.filter((finding) => finding.severity === severity).length;
  return { error: count('error'), warning: count('warning'), note: count('note') };
}

const name = String.raw`(?:"[^"]*(?:""[^"]*)*(?:"|$)|[\p{L}_][\p{L}\p{N}_$]*)`;
/** What may name an object or a type: names with points between them, and parentheses. Ended or not: nothing is read twice. */
const names = new RegExp(String.raw`${name}(?:\.${name})*|\([^)]*`, 'gu');
/** What stands before a name that is neither qualified nor quoted. */
const kinds = /\b(?:argument|column|foreign key|function|member|policy|role|rule|trigger|type) $/;
const longestKind = 'foreign key '.length + 1;

/** The sentence without names and numbers. */
function reasonOf({ object, message }: Finding): string {
  const [reason = ''] = message.split(' The same is true of ');
  return reason
    .replaceAll(object ?? '…', '…')
    .replaceAll(names, (text: string, at: number, whole: string) => {
      const isName = /["(.]/.test(text) || kinds.test(whole.slice(Math.max(0, at - longestKind), at));
      return isName ? '…' : text;
    })
    .replaceAll(/\d+/g, '#');
}
