/**
 * Describes, for the studio, the GraphQL schema of a role and what it does not see and why, as plain data.
 *
 * Read from the reflection that answers the role's requests, so the two cannot differ. Only for operators: it names
 * objects that the role cannot see.
 */
import { assertObjectType, type GraphQLField } from 'graphql';
import {
  about,
  flag,
  listOf,
  named,
  objectOf,
  oneOf,
  orNull,
  type Schema,
  text,
  type ValueOf,
} from '../../shared/schema.ts';
import { inSlices, mapInSlices } from '../../shared/slices.ts';
import { quotePath } from '../catalog/quote-name.ts';
import { omissionsOf } from '../model/explain-missing.ts';
import { tableRootFields } from '../model/inflect.ts';
import type { Model, Relationship, Table } from '../model/model.ts';
import type { Omission } from '../model/model-context.ts';
import { printRoleSchemaInSlices } from '../schema/build-schema.ts';
import { fieldOrigin } from '../schema/origin.ts';
import { describeAdditions, describedAddition } from './describe-extensions.ts';
import type { RoleReflection } from './reflection.ts';
import type { Reflector } from './reflector.ts';

const describedField = objectOf({
  name: text,
  type: about(text, 'As GraphQL writes it: `[String]!`.'),
  kind: oneOf('node_id', 'column', 'relationship', 'computed'),
  column: orNull(text),
  isKey: flag,
  target: orNull(about(text, 'Name of the object type that a relationship leads to.')),
  description: orNull(text),
});

const describedTable = objectOf({
  name: about(text, 'Of its object type.'),
  object: about(text, 'As SQL writes it, the same as `object` of what is missing of it.'),
  kind: oneOf('table', 'partitioned_table', 'view', 'materialized_view', 'foreign_table') satisfies Schema<
    Table['kind']
  >,
  description: orNull(text),
  rowSecurity: flag,
  rootFields: listOf(about(text, 'Field of the query root that leads to the table.')),
  insert: flag,
  update: flag,
  delete: flag,
  fields: listOf(describedField),
  added: listOf(describedAddition),
});

const describedRelationship = objectOf({
  from: about(text, 'Object type of the table with the foreign key.'),
  to: text,
  field: orNull(about(text, 'On `from`; null: none.')),
  inverse: orNull(about(text, 'On `to`; null: none.')),
  cardinality: oneOf('one', 'many'),
});

const omission: Schema<Omit<Omission, 'grant'>> = objectOf({
  kind: oneOf('privilege', 'key', 'name', 'type', 'directive', 'entrypoint'),
  object: text,
  names: listOf(text),
  reason: text,
  fix: orNull(about(text, 'SQL; null: none changes it.')),
});

/** The schema of a role. */
export const describedSchema = named(
  'RoleSchema',
  objectOf({
    role: text,
    tables: listOf(describedTable),
    insertOnly: about(listOf(text), 'Tables that it may insert into and reads nothing of, as SQL writes them.'),
    relationships: listOf(describedRelationship),
    missing: listOf(omission),
  }),
);

/** The schema of a role. */
export type DescribedSchema = ValueOf<typeof describedSchema>;
type DescribedField = ValueOf<typeof describedField>;
type DescribedTable = ValueOf<typeof describedTable>;
type DescribedRelationship = ValueOf<typeof describedRelationship>;

/**
 * Makes the function that describes schemas of a running gateway, by the current catalog.
 *
 * @returns Null for a role that the database does not have. @throws DatabaseError
 */
export function createSchemaDescriber(reflector: Pick<Reflector, 'role' | 'refreshIfChanged'>) {
  return async (role: string): Promise<DescribedSchema | null> => {
    // The user may have run a grant just now and wants to see its effect.
    await reflector.refreshIfChanged('description');
    const reflection = await reflector.role(role, null);
    return reflection === null ? null : describeSchema(reflection);
  };
}

/** Makes the function that prints the SDL of a role's schema. @returns Null as above. @throws DatabaseError */
export function createSchemaPrinter(reflector: Pick<Reflector, 'role' | 'refreshIfChanged'>) {
  return async (role: string): Promise<string | null> => {
    await reflector.refreshIfChanged('schema.graphql');
    const reflection = await reflector.role(role, null);
    return reflection === null ? null : printRoleSchemaInSlices(reflection.shared.model);
  };
}

async function describeSchema(reflection: RoleReflection): Promise<DescribedSchema> {
  const { role, catalog, shared } = reflection;
  const { model, schema } = shared;
  const describing = mapInSlices(model.tables.values(), (table): DescribedTable => {
    const type = assertObjectType(schema.getType(table.baseName));
    const fields = Object.values(type.getFields()).map((field) => describeField(field, table));
    return { ...describeTable(table), fields, added: describeAdditions(schema, table) };
  });
  const tables = await inSlices(describing);
  // Include disabled features, with the way to enable them.
  const omissions = await omissionsOf(catalog, reflection);
  const missing = omissions.flatMap(({ kind, object, names, reason, fix }) =>
    kind === 'switch' || kind === 'link' ? [] : [{ kind, object, names, reason, fix }],
  );
  const insertOnly = model.writeOnly.map(({ namespace, name }) => quotePath(namespace, name));
  return { role, tables, insertOnly, relationships: describeRelationships(model), missing };
}

function describeTable(table: Table): Omit<DescribedTable, 'fields' | 'added'> {
  const { baseName, namespace, name, kind, description, rowSecurity } = table;
  return {
    name: baseName,
    object: quotePath(namespace, name),
    kind,
    description,
    rowSecurity,
    rootFields: [
      ...(table.rootField ? [tableRootFields(baseName).collection] : []),
      ...(table.byPk ? [tableRootFields(baseName).byPk] : []),
    ],
    insert: table.insert,
    update: table.update,
    delete: table.delete,
  };
}

function describeField(field: GraphQLField<unknown, unknown>, table: Table): DescribedField {
  const origin = fieldOrigin(field);
  const { name, type, description = null } = field;
  const common = { name, type: String(type), description, column: null, isKey: false, target: null };
  switch (origin.kind) {
    case 'column': {
      const { column } = origin;
      return { ...common, kind: 'column', column: column.name, isKey: table.primaryKey.includes(column.number) };
    }
    case 'relationship':
      return { ...common, kind: 'relationship', target: origin.target.baseName };
    default:
      return { ...common, kind: origin.kind === 'node_id' ? 'node_id' : 'computed' };
  }
}

/** Each foreign key once, although both tables have a field for it. */
function describeRelationships({ tables }: Model): readonly DescribedRelationship[] {
  const found = new Map<string, DescribedRelationship>();
  for (const table of tables.values()) {
    for (const relationship of table.relationships) {
      // The junction table has the foreign keys.
      if (relationship.through !== null) continue;
      const described = describeRelationship(table, relationship, tables.get(relationship.target)!);
      const other = found.get(relationship.id);
      found.set(relationship.id, other === undefined ? described : joinDirections(described, other));
    }
  }
  return [...found.values()];
}

function describeRelationship(
  { baseName }: Table,
  { direction, fieldName, cardinality }: Relationship,
  target: Table,
): DescribedRelationship {
  return direction === 'outbound'
    ? { from: baseName, to: target.baseName, field: fieldName, inverse: null, cardinality: 'many' }
    : { from: target.baseName, to: baseName, field: null, inverse: fieldName, cardinality };
}

/** Only the inbound direction knows whether there can be several. */
function joinDirections(one: DescribedRelationship, other: DescribedRelationship): DescribedRelationship {
  const [outbound, inbound] = one.field === null ? [other, one] : [one, other];
  return { ...inbound, field: outbound.field };
}
