/**
 * How long the texts of lists and objects can become. A variable of a megabyte may be in them a thousand times,
 * and each array or composite value around it may double its quotes.
 */
import { templateLength } from '../../schema/types/json-text.ts';
import { formLength } from './composite-text.ts';
import type { Slot, Variables } from './slot.ts';
import { entryValue } from './update-list.ts';
import { entriesAt, valueAt } from './variable-path.ts';

/** Most characters of the texts that {@link textBound} counts. */
export const maxTexts = 64_000_000;

const counted: ReadonlySet<Slot['kind']> = new Set(['array', 'json', 'record', 'composite', 'entry_values']);

/** At most so many characters has the text of a slot with lists or objects of the document, or composite values; 0 for other slots. */
export function textBound(slot: Slot, variables: Variables): number {
  return counted.has(slot.kind) ? boundOf(slot, variables) : 0;
}

function boundOf(slot: Slot, variables: Variables): number {
  switch (slot.kind) {
    case 'constant':
      return slot.value?.length ?? 0;
    case 'scalar':
    case 'list':
      return lengthOf(valueAt(variables, slot.path));
    case 'json':
      return templateLength(slot.template, (key) => variables[key]);
    case 'composite':
      return formLength(slot.form, valueAt(variables, slot.path));
    case 'array':
      return quoted(slot.items.map((item) => boundOf(item, variables)));
    case 'record':
      return quoted(slot.attributes.map((attribute) => boundOf(attribute, variables)));
    case 'entry_values':
      return quoted(entriesAt(variables, slot).map((entry) => lengthOf(entryValue(entry, slot.at))));
    default:
      return 0;
  }
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return Array.isArray(value) ? quoted(value.map(lengthOf)) : 20;
}

/** Each character may need an escape. */
function quoted(lengths: readonly number[]): number {
  return lengths.reduce((sum, length) => sum + 2 * length + 3, 2);
}
