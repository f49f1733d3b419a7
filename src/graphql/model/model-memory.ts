/**
 * What building a role's model keeps for the next time: parts of tables, each with what it was made from. If that is the same
 * objects again, so is the part. Otherwise, a change of one table would make ten thousand anew.
 */

/** Kinds of parts. */
type Step =
  | 'namespace'
  | 'selected'
  | 'built'
  | 'named'
  | 'relationship'
  | 'relationships'
  | 'linked'
  | 'entries'
  | 'targets';

/** Takes parts of the build before. */
export interface Keep {
  /** The part that was made for this object, if it was made of the same; otherwise a new one. */
  part<T>(step: Step, oid: string, from: readonly unknown[], make: () => T): T;
  /** The table of the build before, if all of its members are the same. */
  table<T extends { readonly oid: string }>(table: T): T;
}

/** Makes everything. */
export const keepNothing: Keep = { part: (_step, _oid, _from, make) => make(), table: (table) => table };

interface Part {
  readonly from: readonly unknown[];
  readonly result: unknown;
}

interface Parts {
  readonly scope: readonly unknown[];
  readonly steps: Map<Step, Map<string, Part>>;
  readonly tables: Map<string, object>;
}

/** Of one build, for the next one. */
export class ModelMemory {
  #before: Parts | null;
  #parts: Parts = { scope: [], steps: new Map(), tables: new Map() };
  #continues = false;

  /** @param before Of the build before; null: there was none. */
  constructor(before: ModelMemory | null) {
    this.#before = before === null ? null : before.#parts;
  }

  /** Parts of the build before could be used. */
  get continues(): boolean {
    return this.#continues;
  }

  /** To be called once. @param scope What all parts depend on. */
  begin(scope: readonly unknown[]): Keep {
    const known = this.#before !== null && isSame(this.#before.scope, scope) ? this.#before : null;
    this.#continues = known !== null;
    this.#before = null;
    const { steps, tables } = this.#parts;
    this.#parts = { scope, steps, tables };
    return {
      part: <T>(step: Step, oid: string, from: readonly unknown[], make: () => T) => {
        const before = known?.steps.get(step)?.get(oid);
        const part = before !== undefined && isSame(before.from, from) ? before : { from, result: make() };
        const parts = steps.get(step) ?? new Map<string, Part>();
        steps.set(step, parts.set(oid, part));
        return part.result as T;
      },
      table: <T extends { readonly oid: string }>(table: T) => {
        const before = known?.tables.get(table.oid);
        const kept = before !== undefined && hasSameMembers(before as T, table) ? (before as T) : table;
        tables.set(table.oid, kept);
        return kept;
      },
    };
  }
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index += 1) if (!Object.is(one[index], other[index])) return false;
  return true;
}

function hasSameMembers<T extends object>(members: T, others: T): boolean {
  const names = Object.keys(members) as (keyof T)[];
  const isEqual = (name: keyof T) => {
    const [value, before] = [members[name], others[name]];
    return Object.is(before, value) || (Array.isArray(before) && Array.isArray(value) && isSame(before, value));
  };
  return names.length === Object.keys(others).length && names.every(isEqual);
}
