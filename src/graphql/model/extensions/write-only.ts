/** Tables of which a role may select nothing, and insert rows (extension `writes`, docs/mutations.md). Nothing refers to them. */
import { mapInSlices, type Sliced } from '../../../shared/slices.ts';
import { tableRootFields, tableTypeNames } from '../inflect.ts';
import type { Table } from '../model.ts';
import { describeTable, type ModelContext, noteOmission, takenBy } from '../model-context.ts';
import type { NameClaims } from '../name-claims.ts';
import type { TypeResolvers } from '../resolve-type.ts';
import { type SelectedTable, selectedPath, selectWriteOnly } from '../tables/select-tables.ts';
import { buildTable, nothingAdded, otherTableName } from '../tables/tables.ts';

/** What names they may have. */
interface Names {
  readonly types: TypeResolvers;
  readonly claims: NameClaims;
  /** What functions are used for, with their names: `mutation total`. */
  readonly functions: ReadonlySet<string>;
}

/** The tables, in order of namespace, then oid. Those whose names are taken are left out. */
export function* writeOnlyTables(context: ModelContext, names: Names): Sliced<readonly Table[]> {
  const selected = yield* selectWriteOnly(context);
  const built = yield* mapInSlices(selected, (each) => {
    const table = buildTable(context, each, names.types);
    return table.insert && hasFreeNames(context, each, names) ? { ...table, ...noReading } : null;
  });
  return built.filter((table) => table !== null);
}

const noReading = {
  ...nothingAdded,
  relationships: [],
  computedFields: [],
  rootField: false,
  byPk: false,
  update: false,
  delete: false,
} as const satisfies Partial<Table>;

function hasFreeNames(context: ModelContext, selected: SelectedTable, { claims, functions }: Names): boolean {
  const field = tableRootFields(selected.baseName).insert;
  const isFree = !functions.has(`mutation ${field}`);
  const types = ['insertInput', 'insertResponse'] as const;
  const wanted = isFree ? tableTypeNames(selected.baseName).insertInput : field;
  const holder = isFree
    ? claims.claimTypes(selected.baseName, types, () => `table ${selectedPath(selected)}`)
    : 'a function';
  if (holder === null) return true;
  noteOmission(context, () => {
    const reason = takenBy(holder, describeTable(context, selected.row), `"${wanted}"`);
    const fix = otherTableName(context, selected.row);
    return { kind: 'name', object: selectedPath(selected), names: [field], reason, fix };
  });
  return false;
}
