/** The tables and views of the caller's role, and a search. */
import { useEffect, useRef, useState } from 'react';
import { Link } from '../../components/link.tsx';
import { SearchForm } from '../../components/search-form.tsx';
import { TableName } from '../../components/table-name.tsx';
import { hiddenPlaceOf } from '../../shared/places.ts';
import { partMissing, type RoleSchema, type SchemaTable } from '../../shared/role-schema.ts';
import { goTo } from '../../shared/router.ts';
import { type DataPlace, placeOfTable } from './data-place.ts';

const kinds: Readonly<Record<SchemaTable['kind'], string | null>> = {
  table: null,
  partitioned_table: 'partitioned',
  view: 'view',
  materialized_view: 'materialized view',
  foreign_table: 'foreign',
};

interface TableNavProps {
  readonly schema: RoleSchema;
  readonly place: DataPlace;
}

/** The list. */
export function TableNav({ schema, place }: TableNavProps) {
  const [wanted, setWanted] = useState('');
  const part = wanted.trim().toLowerCase();
  const tables = schema.tables
    .filter(({ name, object }) => `${name} ${object}`.toLowerCase().includes(part))
    .toSorted((one, other) => one.name.localeCompare(other.name));
  const { hidden } = partMissing(schema);
  const list = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: for each table that is chosen, here or elsewhere
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [place.table]);
  return (
    <nav ref={list} className="link-list data-nav" aria-label="Tables">
      <SearchForm
        label="Find a table"
        value={wanted}
        onType={setWanted}
        onSearch={() => tables[0] && part !== '' && goTo(placeOfTable(place, tables[0].name))}
      />
      <ul>
        {tables.map((table) => (
          <li key={table.name}>
            <Link to={placeOfTable(place, table.name)} isCurrent={table.name === place.table} title={table.object}>
              <span>
                <TableName table={table} isStrong />
              </span>
              {kinds[table.kind] !== null && <span className="badge">{kinds[table.kind]}</span>}
            </Link>
          </li>
        ))}
      </ul>
      {tables.length === 0 && (
        <div className="empty" role="status">
          <p>{part === '' ? `${schema.role} sees no tables.` : `No table matches “${wanted}”.`}</p>
        </div>
      )}
      {(hidden.length > 0 || schema.tables.length === 0) && (
        <Link to={hiddenPlaceOf(schema.role)}>
          <span className="soft small">Hidden from {schema.role}: tables, columns, functions</span>
          <span className="badge">{hidden.length}</span>
        </Link>
      )}
    </nav>
  );
}
