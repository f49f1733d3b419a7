/**
 * Finds the fields of a root by name: ten thousand tables have ninety thousand of them, and an operation uses a few.
 *
 * The name of a table's field has the base name in it, so tables are found by that.
 */
import { type Sliced, sliceIsOver } from '../../../shared/slices.ts';
import { lowerFirst, tableRootFields } from '../../model/inflect.ts';
import type { Model, Table } from '../../model/model.ts';
import type { FieldMaker, RootEntry, RootSource } from './root-type.ts';

interface Placed {
  readonly table: Table;
  /** In the order of the model, then tables that are only written. */
  readonly place: number;
}

/** Tables by base name, whose first letter is small in some fields. */
export type TablesByName = ReadonlyMap<string, readonly Placed[]>;

/** Of all tables of a model. */
export function* tablesByName({ tables, writeOnly }: Model): Sliced<TablesByName> {
  const found = new Map<string, Placed[]>();
  let place = 0;
  for (const table of [...tables.values(), ...writeOnly]) {
    if (sliceIsOver()) yield;
    const name = lowerFirst(table.baseName);
    const others = found.get(name);
    if (others === undefined) found.set(name, [{ table, place }]);
    else others.push({ table, place });
    place += 1;
  }
  return found;
}

/** What stands before and after the base name. */
const affixes = Object.values(tableRootFields(' ')).map((field) => field.split(' ') as [start: string, end: string]);

/** What a root is made of; of equal names, the last one counts. */
interface RootParts {
  readonly routines: readonly RootEntry[];
  readonly byName: TablesByName;
  /** The order of tables whose fields have one name. */
  compare(one: Placed, other: Placed): number;
  entriesOf(table: Table): readonly RootEntry[];
  readonly others: readonly RootEntry[];
}

/** The fields of a root. */
export class RootFields implements RootSource {
  readonly #parts: RootParts;
  readonly #routines: ReadonlyMap<string, FieldMaker | null>;
  readonly #others: ReadonlyMap<string, FieldMaker | null>;

  constructor(parts: RootParts) {
    this.#parts = parts;
    this.#routines = new Map(parts.routines);
    this.#others = new Map(parts.others);
  }

  find(name: string): FieldMaker | null {
    const other = this.#others.get(name);
    if (other !== undefined) return other;
    const { byName, compare, entriesOf } = this.#parts;
    const placed = new Set<Placed>();
    for (const [start, end] of affixes) {
      if (name.length <= start.length + end.length || !name.startsWith(start) || !name.endsWith(end)) continue;
      const base = lowerFirst(name.slice(start.length, name.length - end.length));
      for (const each of byName.get(base) ?? []) placed.add(each);
    }
    const entries = [...placed].sort(compare).flatMap(({ table }) => entriesOf(table));
    const entry = entries.findLast(([own]) => own === name);
    return entry === undefined ? (this.#routines.get(name) ?? null) : entry[1];
  }

  *entries(): Iterable<RootEntry> {
    const { routines, byName, entriesOf, others } = this.#parts;
    yield* routines;
    for (const placed of byName.values()) for (const { table } of placed) yield* entriesOf(table);
    yield* others;
  }
}
