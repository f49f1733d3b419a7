/**
 * Finds the input whose value PostgreSQL quotes in a conversion error, because the message names no field: `invalid
 * input syntax for type date: "yesterday-ish"` came from `$objects[3].dueOn`.
 */
import { parseJson } from '../../../shared/json.ts';
import type { Path, Slot, Variables } from '../../compile/input/slot.ts';
import { printPath } from '../../compile/input/storable-text.ts';
import { entryValue } from '../../compile/input/update-list.ts';
import { entriesAt, rowAt, rowPathsAt, rowsAt, valueAt } from '../../compile/input/variable-path.ts';
import { quotes } from './visible-message.ts';

/**
 * The place of the quoted value: `$objects[3].dueOn` for a variable, `objects[3].dueOn` for a literal. Null if no value
 * is quoted, no input equals it, or inputs of several names do.
 */
export function citedInput(message: string, slots: readonly Slot[], variables: Variables): string | null {
  const cited = citedText(message);
  if (cited === null) return null;
  const found = slots.flatMap((slot) => placesOf(slot, cited, variables));
  const [first] = found;
  return first !== undefined && found.every(({ field }) => field === first.field) ? first.place : null;
}

/**
 * The message without what it quotes, unless the statement got that as a value or as a member of one: it may be of a row or
 * column that the caller may not see, which a function, policy or view converts. A part of a value shows nothing, because
 * one long value has every short text as a part.
 *
 * @param sent Texts of the statement's parameters.
 */
export function hideUnsent(message: string, sent: readonly (string | null)[]): string {
  const match = quoted.exec(message);
  if (match === null) return message;
  const [upToQuote, text = ''] = match;
  const cited = text.trim();
  if (sent.some((one) => one !== null && hasMember(one, cited, maxNesting))) return message;
  return `${upToQuote.slice(0, -1 - text.length)}…${message.slice(upToQuote.length - 1)}`;
}

/** Lists of JSON of lists. */
const maxNesting = 3;

/** Whether a text is this value, or that of a list, row or JSON which has it. */
function hasMember(text: string, value: string, nesting: number): boolean {
  if (text.trim() === value) return true;
  if (nesting === 0 || !/^[[{(]/.test(text)) return false;
  for (const [token, inner] of text.matchAll(/"([^"\\]*(?:\\.[^"\\]*)*)"|[^\s,:"{}[\]()]+/gs)) {
    if (
      inner === undefined
        ? token === value
        : unescaped(token, inner).some((each) => hasMember(each, value, nesting - 1))
    )
      return true;
  }
  return false;
}

/** In arrays and rows a backslash escapes the next character; in JSON it may begin a code. */
function unescaped(token: string, inner: string): readonly string[] {
  if (!inner.includes('\\')) return [inner];
  const json = parseJson(token);
  return [inner.replaceAll(/\\(.)/gs, '$1'), ...(typeof json === 'string' ? [json] : [])];
}

// Up to the last quote, because a value may contain quotes. The name of a type before it may be quoted as well.
const quoted = new RegExp(`^(?:[^${quotes}]*(?:type|enum) "[^"]*": )?[^${quotes}]*[${quotes}](.*)[${quotes}]`, 's');

function citedText(message: string): string | null {
  return quoted.exec(message)?.[1]?.trim() ?? null;
}

/** The place of objects to insert: with positions if there is only one, otherwise with `*`. */
export function placeOfRows(place: string | Path, variables: Variables): string {
  if (typeof place === 'string') return place;
  const [only, ...others] = rowPathsAt(variables, place);
  return printPath(only !== undefined && others.length === 0 ? only : place);
}

interface Place {
  /** The place without list positions: one key of two objects is the same field. */
  readonly field: string;
  readonly place: string;
}

function placesOf(slot: Slot, cited: string, variables: Variables): Place[] {
  switch (slot.kind) {
    case 'constant':
      return slot.value === cited && slot.name !== undefined ? [toPlace(slot.name)] : [];
    case 'scalar':
    case 'list':
      return isCited(valueAt(variables, slot.path), cited) ? [toPlace(printPath(slot.path))] : [];
    case 'array':
      return slot.items.flatMap((item) => placesOf(item, cited, variables)).slice(0, 1);
    case 'key_values': {
      const { path, fieldName } = slot;
      const found = rowsAt(variables, path).flatMap((row, index) => (isCited(row[fieldName], cited) ? [index] : []));
      if (found.length === 0) return [];
      const paths = rowPathsAt(variables, path);
      return found.map((index) => toPlace(printPath([...paths[index]!, fieldName])));
    }
    case 'path_values': {
      const index = rowsAt(variables, slot.path).findIndex((value) => isCited(value, cited));
      if (index < 0) return [];
      return [toPlace(printPath(rowPathsAt(variables, slot.path)[index]!))];
    }
    case 'row_value': {
      if (!isCited(rowAt(variables, slot)[slot.fieldName], cited)) return [];
      return [toPlace(printPath([...rowPathsAt(variables, slot.path)[slot.index]!, slot.fieldName]))];
    }
    case 'entry_values': {
      const { path, run, at } = slot;
      return entriesAt(variables, slot).flatMap((entry, index) =>
        isCited(entryValue(entry, at), cited) ? [toPlace(printPath([...path, run.from + index, ...at]))] : [],
      );
    }
    default:
      return [];
  }
}

function toPlace(place: string): Place {
  return { place, field: place.replaceAll(/\[\d+\]/g, '') };
}

function isCited(value: unknown, cited: string): boolean {
  return Array.isArray(value) ? value.some((item) => String(item) === cited) : String(value) === cited;
}
