/**
 * Explains why a name is missing in a role's schema: sentences for `check` and for hints beside errors.
 *
 * Only for callers who may see them: they name objects hidden from the role.
 */
import { inSlices } from '../../shared/slices.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { buildModelPartsInSlices } from './build-model.ts';
import type { ModelOptions, Omission } from './model-context.ts';

/** Omissions of each role, cached with the catalog. */
const known = new WeakMap<Catalog, Map<string, Promise<readonly Omission[]>>>();

/** A requested unknown field. */
export interface UnknownField {
  readonly field: string;
  /** The GraphQL type it was looked up in; null if unknown. */
  readonly type: string | null;
}

/**
 * Why a field, table or routine of this name is missing for the role; null if none with that name was left out.
 *
 * The first call for a role costs as much as building its model; the result is cached with the catalog.
 *
 * @param unknown.field A GraphQL field or type name, or an SQL name: `loanCollection`, `Loan`, `loan`, `dueOn`,
 *   `due_on`.
 */
export async function explainMissing(
  catalog: Catalog,
  options: ModelOptions,
  { field, type }: UnknownField,
): Promise<Omission | null> {
  const omissions = await omissionsOf(catalog, options);
  return (
    findField(omissions, type?.replace(/(?:Sum|Avg|Min|Max)AggregateResult$/, '') ?? null, field) ??
    findOmission(omissions, field) ??
    findOmission(omissions, tableNameOf(field)) ??
    // A role that only inserts reads no records.
    (field === 'records' && type !== null ? findOmission(omissions, tableNameOf(type)) : null) ??
    // As other APIs call a list of rows.
    (type === 'Query' ? findOmission(omissions, field.replace(/s$/, '')) : null) ??
    null
  );
}

/** Everything left out for the role. Costs as much as building its model, once, with pauses. */
export function omissionsOf(catalog: Catalog, options: ModelOptions): Promise<readonly Omission[]> {
  const roles = known.get(catalog) ?? new Map<string, Promise<readonly Omission[]>>();
  known.set(catalog, roles);
  const omissions = roles.get(options.role) ?? findOmissions(catalog, options);
  roles.set(options.role, omissions);
  return omissions;
}

/** What is left out for a role, with the catalog that it was looked for in. */
export interface Hints {
  readonly catalog: Catalog;
  readonly omissions: readonly Omission[];
}

/** Tables that hints look at: with ten thousand, all would take seconds. */
const hintedTables = 200;

/** What is left out of the first tables, for hints at the start. */
export async function hintsOf(catalog: Catalog, options: ModelOptions): Promise<Hints> {
  // Functions may be about other tables.
  const first =
    catalog.tables.length <= hintedTables
      ? catalog
      : { ...catalog, tables: catalog.tables.slice(0, hintedTables), routines: [] };
  return { catalog: first, omissions: await omissionsOf(first, options) };
}

async function findOmissions(catalog: Catalog, { role, extensions }: ModelOptions): Promise<readonly Omission[]> {
  return (await inSlices(buildModelPartsInSlices(catalog, { role, extensions }))).omissions;
}

/** A field of the type; of any type if that is unknown. */
function findField(omissions: readonly Omission[], type: string | null, field: string): Omission | undefined {
  const asked = comparable(type === null ? field : `${type}.${field}`);
  const named = (name: string) => comparable(type === null ? name.replace(/^.*\./, '') : name);
  return omissions.find(({ names }) => names.some((name) => name.includes('.') && named(name) === asked));
}

function findOmission(omissions: readonly Omission[], name: string): Omission | undefined {
  const exact = omissions.find((omission) => omission.names.includes(name));
  if (exact) return exact;
  const loose = comparable(name);
  return loose === ''
    ? undefined
    : omissions.find((omission) => omission.names.some((other) => comparable(other) === loose));
}

/** Ignores case and underscores, so that `due_on`, `dueOn` and `DueOn` are equal. */
function comparable(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

const derivedNames = [
  /^insertInto(.+)Collection$/,
  /^deleteFrom(.+)Collection$/,
  /^updateMany(.+)Collection$/,
  /^update(.+)Collection$/,
  /^(?:update|delete)(.+)ByPk$/,
  /^(.+?)(?:Collection|Connection|ByPk|Edge|Filter|OrderBy|InsertInput|UpdateInput|(?:Insert|Update|Delete)Response)$/,
  /^insert(.+)$/,
];

/** The table's part of a derived name: `Loan` in `insertIntoLoanCollection`. */
function tableNameOf(name: string): string {
  for (const pattern of derivedNames) {
    const [, base] = pattern.exec(name) ?? [];
    if (base !== undefined) return base;
  }
  return name;
}
