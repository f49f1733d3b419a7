/** Values as PostgreSQL reads them: scalars, arrays and composite values as text. */
import { unreachable } from '../../../shared/invariant.ts';
import type { TextForm, Variables } from './slot.ts';
import { valueAt } from './variable-path.ts';

/** Text form of a coerced scalar, as PostgreSQL reads it. */
export function scalarText(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** Characters that need an escape in a quoted element. */
const syntax = /["\\]/;
const everySyntax = /["\\]/g;

/** PostgreSQL's array literal; every element is quoted, so none can be read as syntax. */
export function arrayText(elements: readonly (string | null)[]): string {
  return `{${elements.map((element) => (element === null ? 'NULL' : quoteText(element))).join(',')}}`;
}

function quoteText(text: string): string {
  return syntax.test(text) ? `"${text.replaceAll(everySyntax, '\\$&')}"` : `"${text}"`;
}

/** A list of scalars as an array; a single value is a list of one. */
export function listText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return arrayText((Array.isArray(value) ? value : [value]).map(scalarText));
}

/** PostgreSQL's text of a composite value; like elements of arrays, attributes are quoted. */
export function recordText(attributes: readonly (string | null)[]): string {
  return `(${attributes.map((attribute) => (attribute === null ? '' : quoteText(attribute))).join(',')})`;
}

/** The text of a value; missing attributes are null. */
export function formText(form: TextForm, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  switch (form.kind) {
    case 'scalar':
      return scalarText(value);
    case 'list':
      return arrayText((Array.isArray(value) ? value : [value]).map((item) => formText(form.element, item)));
    case 'record':
      return recordText(
        form.attributes.map(
          (attribute) => attribute && formText(attribute.form, valueAt(value as Variables, [attribute.fieldName])),
        ),
      );
    default:
      return unreachable(form);
  }
}

/** Characters of the text of a value, without making it: each level of quotes may double what is inside. */
export function formLength(form: TextForm, value: unknown): number {
  return measure(form, value)?.length ?? 0;
}

/** The length of a text, and how many of its characters need an escape. */
interface Extent {
  readonly length: number;
  readonly escaped: number;
}

function measure(form: TextForm, value: unknown): Extent | null {
  if (value === null || value === undefined) return null;
  switch (form.kind) {
    case 'scalar': {
      const text = String(value);
      return { length: text.length, escaped: text.match(everySyntax)?.length ?? 0 };
    }
    case 'list':
      return enclose((Array.isArray(value) ? value : [value]).map((item) => measure(form.element, item)));
    case 'record':
      return enclose(
        form.attributes.map(
          (attribute) => attribute && measure(attribute.form, valueAt(value as Variables, [attribute.fieldName])),
        ),
      );
    default:
      return unreachable(form);
  }
}

const nullLength = 'NULL'.length;

function enclose(parts: readonly (Extent | null)[]): Extent {
  let [length, escaped] = [1 + parts.length, 0];
  for (const part of parts) {
    length += part === null ? nullLength : part.length + part.escaped + 2;
    if (part !== null) escaped += 2 * part.escaped + 2;
  }
  return { length, escaped };
}

/** An array of booleans. */
export function presenceText(presence: readonly boolean[]): string {
  return `{${presence.map((has) => (has ? 't' : 'f')).join(',')}}`;
}

/** Numbers of rows as an array. */
export function placesText(places: readonly (number | null)[]): string {
  return `{${places.map((place) => place ?? 'NULL').join(',')}}`;
}
