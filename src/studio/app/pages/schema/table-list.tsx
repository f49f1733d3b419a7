/** The tables of the schema by name, and a search: tables with that name come first. */
import { useEffect, useRef, useState } from 'react';
import { Breakable } from '../../components/breakable.tsx';
import { Link } from '../../components/link.tsx';
import { SearchForm } from '../../components/search-form.tsx';
import { hiddenPlaceOf, placeInSchema } from '../../shared/places.ts';
import { isColumnOf, type Missing, partMissing, type RoleSchema, type SchemaTable } from '../../shared/role-schema.ts';
import { goTo } from '../../shared/router.ts';

interface TableListProps {
  readonly schema: RoleSchema;
  readonly chosen: string | null;
}

/** The list. */
export function TableList({ schema, chosen }: TableListProps) {
  const [wanted, setWanted] = useState('');
  const tables = findTables(schema.tables, wanted);
  const openFirst = (): void => {
    if (wanted !== '' && tables[0] !== undefined) goTo(placeInSchema(schema.role, tables[0].name));
  };
  const list = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: for each table that is chosen, here or elsewhere
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  return (
    <nav ref={list} className="link-list schema-list" aria-label="Tables">
      <SearchForm label="Find a table or field" value={wanted} onType={setWanted} onSearch={openFirst} />
      <ul>
        <li>
          <Link to={hiddenPlaceOf(schema.role)} isCurrent={chosen === null}>
            <strong>Hidden objects</strong>
            <span className="badge">{partMissing(schema).hidden.length}</span>
          </Link>
        </li>
        {tables.map((table) => (
          <li key={table.name}>
            <Link to={placeInSchema(schema.role, table.name)} isCurrent={table.name === chosen}>
              <strong>
                <Breakable text={table.name} />
              </strong>
              <HiddenColumns
                count={schema.missing.filter((entry: Missing) => isColumnOf(entry, table.object)).length}
              />
              {table.kind === 'table' && !table.rowSecurity && <span className="badge changed">no row security</span>}
              <code className="soft">
                <Breakable text={table.object} />
              </code>
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

/** Tables by match: whole name, start of the name, part of the name, name of a field. */
function findTables(tables: readonly SchemaTable[], wanted: string): readonly SchemaTable[] {
  const part = wanted.trim().toLowerCase();
  return tables
    .map((table) => ({ table, rank: rankOf(table, part) }))
    .filter(({ rank }) => rank < 4)
    .sort((one, other) => one.rank - other.rank || one.table.name.localeCompare(other.table.name))
    .map(({ table }) => table);
}

function rankOf({ name, object, fields }: SchemaTable, part: string): number {
  const names = [name, object, object.slice(object.indexOf('.') + 1)].map((text) => text.toLowerCase());
  if (part === '' || names.includes(part)) return 0;
  if (names.some((text) => text.startsWith(part))) return 1;
  if (names.some((text) => text.includes(part))) return 2;
  return fields.some((field) => `${field.name} ${field.column}`.toLowerCase().includes(part)) ? 3 : 4;
}

function HiddenColumns({ count }: { readonly count: number }) {
  if (count === 0) return null;
  return <span className="badge changed">{count === 1 ? '1 column hidden' : `${count} columns hidden`}</span>;
}
