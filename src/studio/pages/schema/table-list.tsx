/**
 * The tables of the schema by name, and those in which something of a name is.
 */
import { useState } from 'react';
import { Link } from '../../components/link.tsx';
import { missingId } from './missing-list.tsx';
import { placeOf } from './place-of.ts';
import { isColumnOf, type Missing, type RoleSchema, type SchemaTable } from './role-schema.ts';

interface TableListProps {
  readonly schema: RoleSchema;
  readonly chosen: string | null;
}

/** The list. */
export function TableList({ schema, chosen }: TableListProps) {
  const [wanted, setWanted] = useState('');
  const tables = [...schema.tables]
    .filter((table) => hasPart(table, wanted))
    .sort((one, other) => one.name.localeCompare(other.name));
  return (
    <nav className="link-list schema-list" aria-label="Tables">
      <search>
        <input
          type="search"
          aria-label="Find a table or field"
          placeholder="Find a table or field"
          value={wanted}
          onChange={({ target }) => setWanted(target.value)}
        />
      </search>
      <ul>
        <li>
          <Link to={placeOf(schema.role, null)} isCurrent={chosen === null} onClick={showMissing}>
            <strong>Hidden objects</strong>
            <span className="badge">{schema.missing.length}</span>
          </Link>
        </li>
        {tables.map((table) => (
          <li key={table.name}>
            <Link to={placeOf(schema.role, table.name)} isCurrent={table.name === chosen}>
              <strong>{table.name}</strong>
              <HiddenColumns
                count={schema.missing.filter((entry: Missing) => isColumnOf(entry, table.object)).length}
              />
              <code className="soft">{table.object}</code>
            </Link>
          </li>
        ))}
      </ul>
      {tables.length === 0 && (
        <div className="empty" role="status">
          <p>{wanted === '' ? 'This role sees no tables.' : `No table or field matches “${wanted}”.`}</p>
          {wanted !== '' && (
            <button type="button" onClick={() => setWanted('')}>
              Show all tables
            </button>
          )}
        </div>
      )}
    </nav>
  );
}

function hasPart({ name, object, fields }: SchemaTable, wanted: string): boolean {
  const part = wanted.trim().toLowerCase();
  return [name, object, ...fields.flatMap((field) => [field.name, field.column ?? ''])].some((text) =>
    text.toLowerCase().includes(part),
  );
}

function HiddenColumns({ count }: { readonly count: number }) {
  if (count === 0) return null;
  return <span className="badge changed">{count === 1 ? '1 column hidden' : `${count} columns hidden`}</span>;
}

/** Where there is little room it stands below the list. */
function showMissing(): void {
  document.getElementById(missingId)?.scrollIntoView();
}
