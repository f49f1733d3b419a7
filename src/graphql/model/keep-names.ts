/**
 * Decides which relationships and computed fields keep their names in a table's type. They may come from other
 * namespaces, whose owners differ: they never replace a field of the table itself or of an earlier namespace. Otherwise
 * the later one wins.
 */
import { mapInSlices, type Sliced } from '../../shared/slices.ts';
import { quoteName, quotePath } from '../catalog/quote-name.ts';
import { foreignKeyFix, type Keys } from './comments/comment-fix.ts';
import type { Relationship, Routine, Table } from './model.ts';
import { type ModelContext, noteOmission } from './model-context.ts';
import { otherName } from './routines/routines.ts';
import { distinctName, namedBy } from './tables/relationships.ts';
import type { UnlinkedTable } from './tables/tables.ts';

type Links = Pick<Table, 'relationships' | 'computedFields'>;

interface Linked {
  readonly tables: ReadonlyMap<string, UnlinkedTable>;
  readonly routines: ReadonlyMap<string, Routine>;
}

/** The links without those whose names belong to earlier namespaces. */
export function keepNames(context: ModelContext, table: UnlinkedTable, links: Links, linked: Linked): Links {
  const names = [...context.namespaces.values()].map(({ name }) => name);
  const own = names.indexOf(table.namespace);
  const placeOf = (namespace: string | undefined) => Math.max(own, names.indexOf(namespace ?? table.namespace));
  // Extensions' additions come after everything else.
  const afterAll = (link: { readonly added: boolean } | undefined) => (link?.added ? names.length : 0);
  // An outbound one belongs to the table itself.
  const relationships = links.relationships.map((link) => {
    const maker = link.direction === 'inbound' ? linked.tables.get(link.target) : table;
    return { link, name: link.fieldName, place: placeOf(maker?.namespace) + afterAll(table.added ? undefined : link) };
  });
  const computed = links.computedFields.map((link) => {
    const routine = linked.routines.get(link);
    return { link, name: routine?.fieldName ?? '', place: placeOf(routine?.namespace) + afterAll(routine) };
  });
  if ([...relationships, ...computed].every(({ place }) => place === own)) return links;
  const first = new Map<string, number>();
  for (const { readable, fieldName, added } of table.columns) {
    if (readable && fieldName !== null) first.set(fieldName, own + afterAll({ added }));
  }
  for (const { name, place } of [...relationships, ...computed]) {
    first.set(name, Math.min(place, first.get(name) ?? place));
  }
  const isKept = ({
    link,
    name,
    place,
  }: {
    readonly link: Relationship | string;
    readonly name: string;
    readonly place: number;
  }): boolean => {
    if (first.get(name) === place) return true;
    const object = quotePath(table.namespace, table.name);
    const from = place < names.length ? 'comes from another schema' : 'an extension adds';
    const reason = `A field "${name}" of ${object} that ${from} is left out: an earlier one has that name.`;
    const routine = typeof link === 'string' ? linked.routines.get(link) : undefined;
    noteOmission(context, () => ({
      kind: 'name',
      object,
      names: [`${table.baseName}.${name}`],
      reason,
      fix: routine ? otherName(context, routine) : null,
    }));
    return false;
  };
  return {
    relationships: relationships.filter(isKept).map(({ link }) => link),
    computedFields: computed.filter(isKept).map(({ link }) => link),
  };
}

type Fields = Pick<Table, 'namespace' | 'name' | 'baseName' | 'oid' | 'columns' | 'relationships' | 'computedFields'>;

/** Several fields of a table with one name, in order: the last one is reachable. */
interface Conflict {
  readonly table: Fields;
  readonly name: string;
  readonly all: readonly Field[];
}

/** Records the columns and relationships hidden by a later field with the same name. */
export function* noteHidden(
  context: ModelContext,
  tables: Iterable<Fields>,
  routines: Linked['routines'],
): Sliced<void> {
  if (context.omissions === null) return;
  const conflicts = (yield* mapInSlices(tables, (table) => conflictsOf(context, table, routines))).flat();
  // A foreign key may be hidden on both of its sides: each statement gives it all of its names, so that none undoes another.
  const names = new Map<string, Keys>();
  for (const { table, all } of conflicts) {
    const row = context.catalog.table(table.oid)!;
    for (const link of linksToName(all))
      names.set(link.id, { ...names.get(link.id), ...namedBy(link, distinctName(context, row, link)) });
  }
  for (const { table, name, all } of conflicts) {
    const object = quotePath(table.namespace, table.name);
    const hidden = all.slice(0, -1).map(({ what }) => `its ${what()}`);
    const reason = `The field "${name}" of ${object} is its ${all.at(-1)!.what()}, which hides ${hidden.join(' and ')}.`;
    noteOmission(context, () => {
      const fixes = new Set(linksToName(all).map(({ id }) => foreignKeyFix(context, id, names)));
      const fix = fixes.size === 0 || fixes.has(null) ? null : [...fixes].join('\n');
      return { kind: 'name', object, names: [`${table.baseName}.${name}`], reason, fix };
    });
  }
}

/** Clients may use the visible field: it keeps its name, unless it hides what has no directive for a name. */
function linksToName(all: Conflict['all']): readonly Relationship[] {
  const hidden = all.slice(0, -1);
  const named = hidden.every(({ link }) => link !== null) ? hidden : all;
  return named.flatMap(({ link }) => link ?? []);
}

function conflictsOf(context: ModelContext, table: Fields, routines: Linked['routines']): Conflict[] {
  const fields = new Map<string, Field[]>();
  const add = (name: string | null | undefined, field: Field): void => {
    if (name) fields.set(name, [...(fields.get(name) ?? []), field]);
  };
  for (const { readable, fieldName, name } of table.columns)
    if (readable) add(fieldName, { what: () => `column ${quoteName(name)}`, link: null });
  for (const link of table.relationships) add(link.fieldName, { what: () => describeLink(context, link), link });
  for (const oid of table.computedFields) {
    const routine = routines.get(oid);
    add(routine?.fieldName, {
      what: () => `function ${quotePath(routine?.namespace ?? '', routine?.name ?? '')}`,
      link: null,
    });
  }
  return [...fields].flatMap(([name, all]) => (all.length > 1 ? [{ table, name, all }] : []));
}

interface Field {
  /** Slow: called for conflicts alone. */
  readonly what: () => string;
  readonly link: Relationship | null;
}

function describeLink({ catalog }: ModelContext, { id }: Relationship): string {
  const row = catalog.foreignKeys.find(({ _id }) => _id === id);
  return row === undefined
    ? 'relationship by a directive'
    : `relationship by the foreign key ${quoteName(row.conname)}`;
}
