/** A table as the role sees it: fields with types, allowed operations, and missing parts. */
import { Breakable } from '../../components/breakable.tsx';
import { Link } from '../../components/link.tsx';
import { placeInSchema } from '../../shared/places.ts';
import {
  type Added,
  missingOf,
  type RoleSchema,
  type SchemaField,
  type SchemaTable,
} from '../../shared/role-schema.ts';
import { MissingList } from './missing-list.tsx';

const kinds = {
  table: 'Table',
  view: 'View',
  materialized_view: 'Materialized view',
  partitioned_table: 'Partitioned table',
  foreign_table: 'Foreign table',
} as const satisfies Record<SchemaTable['kind'], string>;

const operations = ['insert', 'update', 'delete'] as const;

/** @param props.table Part of the schema. */
export function TableDetail({ schema, table }: { readonly schema: RoleSchema; readonly table: SchemaTable }) {
  const missing = missingOf(table, schema.missing);
  return (
    <div className="schema-detail">
      <AllTables role={schema.role} />
      <header className="stack">
        <h2>{table.name}</h2>
        <p className="soft">
          {kinds[table.kind]} <code>{table.object}</code>
        </p>
        {table.description !== null && <p>{table.description}</p>}
        <ul className="row" aria-label="Privileges of the role">
          <li className="badge on">read</li>
          {operations.map((name) => (
            <li key={name} className={table[name] ? 'badge on' : 'badge'}>
              {table[name] ? name : `no ${name}`}
            </li>
          ))}
          {table.kind === 'table' && (
            <li className={table.rowSecurity ? 'badge on' : 'badge changed'}>
              row security {table.rowSecurity ? 'on' : 'off'}
            </li>
          )}
        </ul>
        {table.rootFields.length > 0 && (
          <p className="small soft">
            Query with{' '}
            {table.rootFields.map((name, index) => (
              <span key={name}>
                {index > 0 && ', '}
                <code>{name}</code>
              </span>
            ))}
          </p>
        )}
      </header>
      <Fields role={schema.role} fields={table.fields} />
      <Additions added={table.added} />
      {missing.length > 0 && (
        <section className="stack" aria-labelledby="missing-title">
          <h3 id="missing-title">Hidden, and how to expose it</h3>
          <MissingList missing={missing} />
        </section>
      )}
    </div>
  );
}

/** The way back, if the list is not beside it. */
export function AllTables({ role }: { readonly role: string }) {
  return (
    <Link className="to-list" to={placeInSchema(role, null)}>
      All tables
    </Link>
  );
}

/** In plain words; the names are those that an operation has. */
const additions: Readonly<Record<string, string>> = {
  related_filter: 'Filter by related rows',
  related_order: 'Order by related rows',
  function_filter: 'Filter by functions',
  function_order: 'Order by functions',
  json_filter: 'Filter by JSON',
  json_part: 'Read a part of JSON, with at',
  text_search: 'Search text',
  rank: 'Order by rank of a search',
  many_to_many: 'Many to many',
  nested_insert: 'Insert with related rows',
  nested_update: 'Update with related rows',
  distinct: 'First of equal rows',
  groups: 'Groups with counts and sums',
  count_at_most: 'Count no further than',
  upsert: 'Update rows that are there',
  update_operator: 'Update by values of the row',
  update_many: 'List of updates',
  row_write: 'Write one row',
};

function Additions({ added }: { readonly added: readonly Added[] }) {
  const shown = added.filter(({ kind }) => kind in additions);
  if (shown.length === 0) return null;
  return (
    <section className="stack" aria-labelledby="additions-title">
      <h3 id="additions-title">With extensions</h3>
      <dl className="additions">
        {shown.map(({ kind, names }) => (
          <div key={kind}>
            <dt>{additions[kind]}</dt>
            {names.map((name) => (
              <dd key={name}>
                <code>{name}</code>
              </dd>
            ))}
          </div>
        ))}
      </dl>
    </section>
  );
}

function Fields({ role, fields }: { readonly role: string; readonly fields: readonly SchemaField[] }) {
  return (
    <table className="fields">
      <caption className="visually-hidden">Fields</caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Type</th>
        </tr>
      </thead>
      <tbody>
        {fields.map((field) => (
          <tr key={field.name} title={field.description ?? undefined}>
            <th scope="row">
              <code>
                <Breakable text={field.name} />
              </code>{' '}
              <FieldNote field={field} />
            </th>
            <td>
              <FieldType role={role} field={field} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function FieldNote({ field: { kind, isKey, column, name } }: { readonly field: SchemaField }) {
  if (isKey) return <span className="badge">key</span>;
  if (kind === 'computed') return <span className="badge">computed</span>;
  return column === null || column === name ? null : <code className="soft">{column}</code>;
}

function FieldType({ role, field: { type, target } }: { readonly role: string; readonly field: SchemaField }) {
  if (target === null) return <code>{type}</code>;
  return (
    <Link to={placeInSchema(role, target)}>
      <code>
        <Breakable text={type} />
      </code>
    </Link>
  );
}
