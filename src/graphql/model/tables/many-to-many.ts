/**
 * Many-to-many relationships: if the comment of a junction table requests it, each of its two tables gets a collection
 * of the other (extension `reads`, docs/relationships.md). They never replace a field.
 */
import { type Sliced, sliceIsOver } from '../../../shared/slices.ts';
import { tableFix, validName } from '../comments/comment-fix.ts';
import { type ManyToMany, readSettings } from '../comments/directive-settings.ts';
import { baseForm, isValidName, tableRootFields } from '../inflect.ts';
import type { LinkColumn, Relationship, Routine, Table } from '../model.ts';
import { describeTable, hasExtension, type ModelContext, noteOmission, tablePath } from '../model-context.ts';
import { noEntries } from './relationships.ts';

/** The input of linking. */
export interface Linked {
  readonly tables: ReadonlyMap<string, Table>;
  /** All relationships of each table, by its oid. */
  readonly relationships: ReadonlyMap<string, readonly Relationship[]>;
  readonly routines: ReadonlyMap<string, Routine>;
}

/** The two tables of a junction table. */
interface Sides {
  readonly links: Table;
  readonly from: Relationship;
  readonly to: Relationship;
  readonly names: ManyToMany;
}

/** The tables with the relationships through junction tables. */
export function* addManyToMany(context: ModelContext, linked: Linked): Sliced<ReadonlyMap<string, Table>> {
  const tables = new Map(linked.tables);
  for (const links of linked.tables.values()) {
    if (sliceIsOver()) yield;
    const sides = sidesOf(context, linked, links);
    if (sides === null) continue;
    const { from, to, names } = sides;
    const adding = { tables, sides, routines: linked.routines };
    addField(context, adding, { near: from, far: to, key: 'from', name: names.from });
    addField(context, adding, { near: to, far: from, key: 'to', name: names.to });
  }
  return tables;
}

function sidesOf(context: ModelContext, { relationships }: Linked, links: Table): Sides | null {
  const { manyToMany: names } = readSettings(context.catalog, 'table', links.oid).settings;
  if (names === null || names === 'malformed' || !hasExtension(context, links, 'reads')) return null;
  const keys = linkKeys(relationships, links);
  const [from, to, ...others] = keys;
  if (from !== undefined && to !== undefined && others.length === 0) return { links, from, to, names };
  noteOmission(context, () => {
    const row = context.catalog.table(links.oid)!;
    const reason = `${describeTable(context, row)} links no two tables: it has ${keys.length} foreign keys that the role can use, not two.`;
    return { kind: 'key', object: tablePath(context, row), names: [], reason, fix: null };
  });
  return null;
}

/** The usable foreign keys of a junction table, in the order of its two sides. */
export function linkKeys(relationships: Linked['relationships'], { oid }: Table): readonly Relationship[] {
  const keys = (relationships.get(oid) ?? []).filter(({ direction }) => direction === 'outbound');
  return keys.sort((a, b) => directivesLast(a) - directivesLast(b));
}

/** Declared keys by oid, then those of the directive. */
function directivesLast({ id }: Relationship): number {
  return /^\d+$/.test(id) ? Number(id) : Number.POSITIVE_INFINITY;
}

interface Adding {
  readonly tables: Map<string, Table>;
  readonly routines: ReadonlyMap<string, Routine>;
  readonly sides: Sides;
}

interface Field {
  readonly near: Relationship;
  readonly far: Relationship;
  /** The directive's key for it. */
  readonly key: 'from' | 'to';
  readonly name: string | null;
}

function addField(context: ModelContext, { tables, routines, sides }: Adding, { near, far, key, name }: Field): void {
  const [table, target] = [tables.get(near.target), tables.get(far.target)];
  if (table === undefined || target === undefined) return;
  const { links } = sides;
  const fieldName = name ?? tableRootFields(target.baseName).collection;
  if (!isValidName(fieldName) || fieldsOf(table, routines).has(fieldName)) {
    noteOmission(context, () => {
      const row = context.catalog.table(links.oid)!;
      const path = tablePath(context, row);
      const reason = `${describeTable(context, context.catalog.table(table.oid)!)} has no field "${fieldName}" through ${path}: it has another one, or GraphQL has no such name.`;
      const free = validName(`${fieldName}Through${baseForm(links.name, true)}`);
      const given = Object.fromEntries(Object.entries(sides.names).filter(([, value]) => value !== null));
      const fix = tableFix(context, row, { many_to_many: { ...given, [key]: free } });
      return { kind: 'name', object: path, names: [fieldName], reason, fix };
    });
    return;
  }
  const relationship: Relationship = {
    id: `through:${links.oid}:${key}`,
    direction: 'inbound',
    fieldName,
    added: true,
    cardinality: 'many',
    nullable: true,
    target: target.oid,
    pairs: [],
    through: {
      namespace: links.namespace,
      name: links.name,
      readsUserCode: links.readsUserCode,
      planningWeight: links.planningWeight,
      near: columnsOf(links, near),
      far: columnsOf(links, far),
    },
    unique: false,
    enforced: false,
    required: false,
    ...noEntries,
  };
  tables.set(table.oid, { ...table, relationships: [...table.relationships, relationship] });
}

function columnsOf({ columns }: Table, { pairs }: Relationship): readonly LinkColumn[] {
  return pairs.map(({ local, foreign }) => ({
    column: columns.find(({ number }) => number === local)!,
    number: foreign,
  }));
}

/** Names of the fields of the object type of a table. */
export function fieldsOf(table: Table, routines: ReadonlyMap<string, Routine>): ReadonlySet<string> {
  const columns = table.columns.flatMap(({ readable, fieldName }) =>
    readable && fieldName !== null ? [fieldName] : [],
  );
  const computed = table.computedFields.flatMap((oid) => routines.get(oid)?.fieldName ?? []);
  return new Set(['nodeId', ...columns, ...table.relationships.map(({ fieldName }) => fieldName), ...computed]);
}
