/** A table: its head with what can be done, and its rows. */
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { Link } from '../../components/link.tsx';
import { Empty, Problem, Waiting } from '../../components/problem.tsx';
import { TableName } from '../../components/table-name.tsx';
import { useCommands } from '../../shared/commands.ts';
import { placeInAccess, placeInSchema } from '../../shared/places.ts';
import { type RoleSchema, type RoleTable, useRoleTable } from '../../shared/role-schema.ts';
import { goTo } from '../../shared/router.ts';
import { type CellOpening, type DataPlace, newRow, placeOf, placeOfTable } from './data-place.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { FilterBar } from './filter-bar.tsx';
import { MoreMenu } from './more-menu.tsx';
import { countLimit } from './read-operations.ts';
import { RowGrid } from './row-grid.tsx';
import { keyOf, type Row } from './row-key.ts';
import { RowPanel } from './row-panel.tsx';
import { type Rows, useRows } from './use-rows.ts';

interface TableViewProps {
  readonly schema: RoleSchema;
  readonly name: string;
  readonly place: DataPlace;
}

/** The table in the address. */
export function TableView({ schema, name, place }: TableViewProps) {
  const isThere = schema.tables.some((table) => table.name === name);
  const { value: table, problem } = useRoleTable(schema.role, isThere ? name : null);
  return (
    <section className="chosen data-view" aria-label={name}>
      {isThere ? (
        table === null || problem?.status === 404 ? (
          <Waiting what={name} problem={problem} />
        ) : (
          <OpenTable schema={schema} table={table} place={place} />
        )
      ) : (
        <>
          <ToTables place={place} />
          <Problem title={`${schema.role} does not see ${name}`}>
            Nothing with this name is granted to the role, or there is no such table.{' '}
            <Link to={placeInSchema(schema.role, name)}>See why on the page Schema</Link>
          </Problem>
        </>
      )}
    </section>
  );
}

function ToTables({ place }: { readonly place: DataPlace }) {
  return (
    <Link className="to-list" to={placeOfTable(place, null)}>
      All tables
    </Link>
  );
}

interface OpenTableProps {
  readonly schema: RoleSchema;
  readonly table: RoleTable;
  readonly place: DataPlace;
}

function OpenTable({ schema, table, place }: OpenTableProps) {
  const { caller, order, filter, row } = place;
  const isLive = place.isLive && table.live;
  const isCallerKnown = caller.kind !== 'user' || caller.userId !== null;
  const rows = useRows(isCallerKnown ? table : null, caller, { order, filter }, isLive);
  const [chosen, setChosen] = useState<ReadonlyMap<string, Row>>(new Map());
  const [deleting, setDeleting] = useState<readonly Row[] | null>(null);
  const [opening, setOpening] = useState<(CellOpening & { readonly row: string }) | null>(null);
  const as = JSON.stringify([caller, filter]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is not shown must not be deleted
  useEffect(() => setChosen(new Map()), [as]);
  useEffect(() => setOpening((now) => (now?.row === row ? now : null)), [row]);
  const open = (key: string, cell: CellOpening | null): void => {
    const isOpen = key === row || goTo(placeOf({ ...place, row: key }));
    if (isOpen) setOpening(cell && { ...cell, row: key });
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: for each place
  const commands = useMemo(
    () =>
      table.insert === null || !isCallerKnown
        ? []
        : [{ id: 'insert row', title: `Insert row into ${table.name}`, part: 'Data', run: () => open(newRow, null) }],
    [table, JSON.stringify(place)],
  );
  useCommands(commands);
  const remove = (some: readonly Row[]): void => {
    if (table.delete !== null && some.length > 0) setDeleting(some);
  };
  const isReadOnly = [table.insert, table.update, table.delete].every((field) => field === null);
  return (
    <>
      <header className="page-head data-bar">
        <div className="row">
          <ToTables place={place} />
          <h2>
            <TableName table={table} />
          </h2>
          <Count rows={rows} isLive={isLive} />
          {isReadOnly && (
            <Link className="small" to={accessOf(table, schema.role)}>
              {schema.role} only reads
            </Link>
          )}
        </div>
        <div className="row">
          {chosen.size > 0 && (
            <>
              <button type="button" className="quiet" onClick={() => setChosen(new Map())}>
                Clear choice
              </button>
              {table.delete !== null && (
                <button type="button" className="danger" onClick={() => remove([...chosen.values()])}>
                  Delete {chosen.size}
                </button>
              )}
            </>
          )}
          {table.live && (
            <label className="switch" title="Shows the first page, and each change of it at once">
              <input
                type="checkbox"
                role="switch"
                aria-checked={isLive}
                checked={isLive}
                onChange={({ target }) => goTo(placeOf({ ...place, isLive: target.checked }), { replace: true })}
              />
              Live
            </label>
          )}
          <button type="button" onClick={rows.readAgain}>
            Reload
          </button>
          <MoreMenu {...{ table, place, rows }} chosen={[...chosen.values()]} />
          {table.insert !== null && isCallerKnown && (
            <button type="button" className="primary" title="Shift+Enter" onClick={() => open(newRow, null)}>
              Insert row
            </button>
          )}
        </div>
      </header>
      <FilterBar table={table} place={place} />
      {isCallerKnown ? (
        <div className="data-place">
          <div className="data-rows">
            <Body schema={schema} table={table} place={place} rows={rows}>
              <RowGrid
                {...{ schema, table, place, rows, chosen }}
                onChoose={setChosen}
                onOpen={open}
                onNew={table.insert === null ? null : () => open(newRow, null)}
                onDelete={(active) => remove(chosen.size > 0 ? [...chosen.values()] : [active])}
                onClose={row === null ? null : () => goTo(placeOf({ ...place, row: null }))}
              />
            </Body>
          </div>
          {row !== null && (
            <RowPanel
              {...{ schema, table, place, rows }}
              opening={opening?.row === row ? opening : null}
              onDelete={(one) => remove([one])}
            />
          )}
        </div>
      ) : (
        <Empty title="Select a user">
          <p>The rows are shown as the user sees them.</p>
        </Empty>
      )}
      {deleting !== null && (
        <DeleteDialog
          target={{ table, caller }}
          chosen={deleting}
          rows={rows}
          onClose={() => setDeleting(null)}
          onDeleted={() => {
            setDeleting(null);
            setChosen(new Map());
            if (deleting.some((each) => keyOf(table, each) === row))
              goTo(placeOf({ ...place, row: null }), { asks: false });
          }}
        />
      )}
    </>
  );
}

/** How many rows there are: counted by the API where the table allows that, or all loaded. Live rows are the first page alone. */
function Count({ rows: { rows, total, isDone }, isLive }: { readonly rows: Rows; readonly isLive: boolean }) {
  const isWhole = isDone && !isLive;
  const count = isWhole ? rows.length : total;
  const isBounded = !isWhole && count !== null && count >= countLimit;
  return (
    <span className="soft small data-count" role="status">
      {count !== null && `${count.toLocaleString()}${isBounded ? ' or more' : ''} ${count === 1 ? 'row' : 'rows'}`}
    </span>
  );
}

interface BodyProps extends OpenTableProps {
  readonly rows: Rows;
  readonly children: ReactNode;
}

/** The grid, or why it is empty. */
function Body({ schema, table, place, rows: all, children }: BodyProps) {
  const { rows, problem, isLoading, isDone, readAgain } = all;
  if (rows.length === 0) {
    if (problem !== null) {
      return (
        <div className="empty" role="alert">
          <h2>The API refused the rows</h2>
          <p>{problem.message}</p>
          <button type="button" onClick={readAgain}>
            Try again
          </button>
        </div>
      );
    }
    if (!isLoading && isDone) return <NoRows table={table} place={place} role={schema.role} />;
  }
  return (
    <>
      {children}
      {problem !== null && (
        <div className="notice fault spread" role="alert">
          <span>More rows could not be loaded: {problem.message}</span>
          <button type="button" onClick={readAgain}>
            Load again
          </button>
        </div>
      )}
    </>
  );
}

interface NoRowsProps {
  readonly table: RoleTable;
  readonly place: DataPlace;
  readonly role: string;
}

function NoRows({ table, place, role }: NoRowsProps) {
  const { kind } = place.caller;
  const isService = kind === 'service';
  if (place.filter.length > 0) {
    return (
      <Empty title="No row matches the filter">
        <button type="button" onClick={() => goTo(placeOf({ ...place, filter: [] }))}>
          Show all rows
        </button>
      </Empty>
    );
  }
  return (
    <Empty title={isService ? 'No rows yet' : `${kind === 'user' ? 'This user' : role} sees no rows`}>
      {!isService && (
        <>
          <p>
            {table.rowSecurity
              ? 'The table is empty, or no policy lets this caller see a row of it.'
              : 'The table is empty.'}
          </p>
          <div className="row">
            <Link className="button" to={accessOf(table, role)}>
              See why on the page Access
            </Link>
            <Link className="button" to={placeOf({ ...place, caller: { kind: 'service' } })}>
              See all rows as the service role
            </Link>
          </div>
        </>
      )}
    </Empty>
  );
}

/** What the role may do with the table, and why. */
function accessOf({ object }: RoleTable, role: string): string {
  const parts = object.match(/"(?:[^"]|"")*"|[^."]+/g) ?? [];
  const names = parts.map((part) => (part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part));
  const [schema = '', name = ''] = names;
  return placeInAccess({ schema, name }, new URLSearchParams({ role }));
}
