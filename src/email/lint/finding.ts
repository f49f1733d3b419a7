/** A finding about a subject or body of an email, and its place. */
import { placeOf } from '../engine/template-error.ts';
import type { CheckName } from './check-names.ts';

/** A sentence without the field's name. */
export interface TemplateFinding {
  readonly message: string;
  /** The check, which a comment can switch off; null: a fault. */
  readonly name: CheckName | null;
  /** From 1; null: it is about the text as a whole. */
  readonly line: number | null;
  /** From 1, in UTF-16 units; null where `line` is. */
  readonly column: number | null;
  /** UTF-16 units that it is about; null: the word at the place. */
  readonly length: number | null;
}

/** About the text as a whole. */
export function findingOnWhole(message: string, name: CheckName | null = null): TemplateFinding {
  return { message, name, line: null, column: null, length: null };
}

/** About a part of the source. @param at Offset in UTF-16 units. */
export function findingAt(
  source: string,
  { at, length }: { at: number; length: number },
  message: string,
  name: CheckName | null = null,
): TemplateFinding {
  return { message, name, ...placeOf(source, at), length };
}

/** The sentence with its place and the name of its check. */
export function sayFinding({
  message,
  line,
  column,
  name,
}: Pick<TemplateFinding, 'message' | 'line' | 'column'> & { readonly name: string | null }): string {
  const place = line === null ? '' : `line ${line}, column ${column}: `;
  return `${place}${message}${name === null ? '' : ` [${name}]`}`;
}
