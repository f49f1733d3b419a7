/**
 * Errors of templates: every code once, with the phase that finds it, and the error that carries one.
 *
 * `parse` and `escape` faults depend only on the template's text, and `parseTemplate` finds them; `exec` faults depend
 * on the data, and `renderTemplate` finds them. Codes are stable; messages may change.
 */

/** When a fault is found: parsing, escaping, or rendering with data. */
export type TemplatePhase = 'parse' | 'escape' | 'exec';

/** All codes with their phase. Names are never reused. */
export const templateErrorCodes = {
  syntax: 'parse',
  unknown_function: 'parse',
  unknown_variable: 'parse',
  duplicate_template: 'parse',
  nested_too_deep: 'parse',
  parse_limit: 'parse',
  open_markup: 'escape',
  bad_markup: 'escape',
  bad_script: 'escape',
  branches_differ: 'escape',
  ambiguous_url: 'escape',
  ambiguous_slash: 'escape',
  misplaced_escaper: 'escape',
  unknown_template: 'escape',
  unstable_recursion: 'escape',
  too_many_contexts: 'escape',
  wrong_value: 'exec',
  wrong_arguments: 'exec',
  unset_variable: 'exec',
  missing_template: 'exec',
  depth_limit: 'exec',
  iteration_limit: 'exec',
  output_limit: 'exec',
  time_limit: 'exec',
} as const satisfies Record<string, TemplatePhase>;

/** One of the codes above. */
export type TemplateErrorCode = keyof typeof templateErrorCodes;

/** A place in a template: line and column count from 1, the column in UTF-16 units. */
export interface TemplatePlace {
  readonly line: number;
  readonly column: number;
}

/** The open construct at the end of a template. */
interface Unclosed extends TemplatePlace {
  /** Its start: an action, or a tag up to its first action. */
  readonly text: string;
}

/** A fault of a template. Contains no data except values quoted in the message. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  readonly code: TemplateErrorCode;
  readonly phase: TemplatePhase;
  /** From 1; null if the fault has no place, like markup still open at the end. */
  readonly line: number | null;
  /** From 1, in UTF-16 units; null if `line` is. */
  readonly column: number | null;
  /** In addition to Go's message; null for other faults. */
  readonly unclosed: Unclosed | null;

  constructor(code: TemplateErrorCode, message: string, place: TemplatePlace | null, unclosed: Unclosed | null = null) {
    super(message);
    this.unclosed = unclosed;
    this.code = code;
    this.phase = templateErrorCodes[code];
    this.line = place?.line ?? null;
    this.column = place?.column ?? null;
  }
}

/** A fault in a layout or partial. Its message names the piece and the line; it has no place in the template itself. */
export class PieceError extends TemplateError {
  /** `the layout`, or `the partial "name"`. */
  readonly title: string;
  readonly source: string;
  /** The fault, with its place in that text. */
  readonly fault: TemplateError;

  constructor(title: string, source: string, fault: TemplateError) {
    const { code, line, message } = fault;
    super(code, `in ${title}${line === null ? '' : `, line ${line}`}: ${message}`, null);
    this.title = title;
    this.source = source;
    this.fault = fault;
  }
}

/** A fault whose finder does not know its place; `renderTemplate` adds it and throws a `TemplateError`. */
export class EvaluationFailure extends Error {
  override readonly name = 'EvaluationFailure';
  readonly code: TemplateErrorCode;
  /** Offset from the start of the current node, in UTF-16 units. */
  readonly offset: number;

  constructor(code: TemplateErrorCode, message: string, offset = 0) {
    super(message);
    this.code = code;
    this.offset = offset;
  }
}

/** Throws an `EvaluationFailure` about a value of a wrong type. */
export function failValue(message: string): never {
  throw new EvaluationFailure('wrong_value', message);
}

/** Throws a fault of the scanned text; the caller adds the place. */
export function failScan(code: TemplateErrorCode, message: string): never {
  throw new EvaluationFailure(code, message);
}

/** Line and column of an offset in UTF-16 units. */
export function placeOf(source: string, offset: number): TemplatePlace {
  const before = source.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

/** The offset of a place, in UTF-16 units. */
export function offsetOf(source: string, { line, column }: TemplatePlace): number {
  const before = source.split('\n', line - 1).join('\n');
  return before.length + (line > 1 ? 1 : 0) + column - 1;
}

/** The construct at an offset in UTF-16 units. @param ends Matches the end of its start, after it in the source. */
export function unclosedAt(source: string, at: number, ends: RegExp): Unclosed {
  const rest = source.slice(at, at + maxShown);
  const end = ends.exec(rest);
  return { text: end === null ? rest : rest.slice(0, end.index + end[0].length), ...placeOf(source, at) };
}

const maxShown = 80;
