/**
 * Fills the slots of a statement from the coerced variables of a request.
 *
 * Binding cannot fail: all refusals happened in shape.ts, so a statement accepts any values of the same
 * shape. All parameters are sent as text.
 */
import { createHash, randomBytes } from 'node:crypto';
import { invariant, unreachable } from '../../../shared/invariant.ts';
import { templateText } from '../../schema/types/json-text.ts';
import { decodeOnce } from '../cursor/read-cursor.ts';
import { arrayText, formText, listText, placesText, presenceText, recordText, scalarText } from './composite-text.ts';
import { readOnce } from './read-once.ts';
import { setsKey } from './row-keys.ts';
import type { Slot, Variables } from './slot.ts';
import { entryValue } from './update-list.ts';
import { entriesAt, numberAmong, rowAt, rowsAt, valueAt } from './variable-path.ts';

/** The source of slot values. */
export interface BindingSource {
  readonly variables: Variables;
  /** JSON text by response key, for operations with `__schema` or `__type` besides data. */
  readonly introspection: ReadonlyMap<string, string>;
  /** For statements only: bytes of JSON from which an object counts. */
  readonly countedBytes?: number;
}

/** Fills slots in order. */
export function bindSlots(slots: readonly Slot[], source: BindingSource): (string | null)[] {
  return slots.map((slot) => bindSlot(slot, source));
}

/** The value of one slot as text, null for SQL null. */
export function bindSlot(slot: Slot, source: BindingSource): string | null {
  switch (slot.kind) {
    case 'constant':
      return slot.value;
    case 'scalar':
      return scalarText(valueAt(source.variables, slot.path));
    case 'json':
      return templateText(slot.template, (key) => source.variables[key]);
    case 'list':
      return listText(valueAt(source.variables, slot.path));
    case 'array':
      return arrayText(slot.items.map((item) => bindSlot(item, source)));
    case 'composite':
      return formText(slot.form, valueAt(source.variables, slot.path));
    case 'record':
      return recordText(slot.attributes.map((attribute) => bindSlot(attribute, source)));
    case 'limit':
      return limitText(valueAt(source.variables, slot.path), slot.maxRows);
    case 'element': {
      const elements = decodeOnce(source.variables, String(valueAt(source.variables, slot.path)));
      invariant(elements !== null && slot.index < elements.length, 'the element was asked for before');
      return elements[slot.index] ?? null;
    }
    case 'key_values': {
      const text = slot.isList ? listText : scalarText;
      return arrayText(rowsAt(source.variables, slot.path).map((row) => text(row[slot.fieldName])));
    }
    case 'key_presence':
      return presenceText(rowsAt(source.variables, slot.path).map((row) => setsKey(row, slot.key)));
    case 'row_value': {
      const value = rowAt(source.variables, slot)[slot.fieldName];
      return slot.isList ? listText(value) : scalarText(value);
    }
    case 'path_values':
      return arrayText(rowsAt(source.variables, slot.path).map(scalarText));
    case 'row_count':
      return String(rowsAt(source.variables, slot.path).length);
    case 'row_parents': {
      const { path, below, first } = slot;
      const parents = path.length === 0 ? [source.variables] : rowsAt(source.variables, path);
      return placesText(parents.flatMap((row, index) => rowsAt(row, below).map(() => index + first)));
    }
    case 'row_links':
      return placesText(linksOf(source.variables, slot));
    case 'kept_keys':
      return `${settingPrefix}.k${slot.step}`;
    case 'entry_values': {
      const text = slot.isList ? listText : scalarText;
      return arrayText(entriesAt(source.variables, slot).map((entry) => text(entryValue(entry, slot.at))));
    }
    case 'digest':
      return digestText(
        slot.of.map((part) => (typeof part === 'string' ? part : bindSlot(part, source))),
        source.variables,
      );
    case 'introspection':
      return source.introspection.get(slot.responseKey) ?? null;
    case 'counted_bytes':
      invariant(source.countedBytes !== undefined, 'a statement is bound with the bytes that count');
      return String(source.countedBytes);
    case 'bytes_left':
      return bytesLeft;
    default:
      return unreachable(slot);
  }
}

function limitText(value: unknown, maxRows: number): string {
  return String(typeof value === 'number' ? Math.min(value, maxRows) : maxRows);
}

function digestText(values: readonly (string | null)[], owner: object): string {
  // A long value may be used very often.
  const short = values.map((value) => (value !== null && value.length > 1000 ? digestOnce(owner, value) : value));
  return digest(JSON.stringify(short));
}

const digestOnce = readOnce(digest);

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 12);
}

/** The number of the only object nested at `below`, from 1, or null, for each of these. */
function linksOf(
  variables: Variables,
  { path, below, among }: Extract<Slot, { kind: 'row_links' }>,
): readonly (number | null)[] {
  let count = 0;
  return rowsAt(variables, path).map((row) => {
    const [nested] = rowsAt(row, below);
    if (nested === undefined) return null;
    count += 1;
    return among === null ? count : numberAmong(variables, among, nested);
  });
}

/**
 * Settings with this prefix hold keys from one statement to the next. Its random part is known only to this process,
 * so neither a function that a caller can call nor a trigger can read or set them.
 */
const settingPrefix = `pgreflect_${randomBytes(16).toString('hex')}`;

/** The setting of the slot `bytes_left`. */
export const bytesLeft = `${settingPrefix}.bytes_left`;
