/** The Data page: the rows of a table as a caller of one's choice sees and changes them, through the API. */
import { useEffect, useMemo } from 'react';
import { CallerChoice } from '../../components/caller-choice.tsx';
import { OperatorsOnly, Waiting } from '../../components/problem.tsx';
import { type Caller, chosenCaller } from '../../shared/caller.ts';
import { useCommands } from '../../shared/commands.ts';
import { useRoleSchema } from '../../shared/role-schema.ts';
import { goTo } from '../../shared/router.ts';
import { session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { placeOf, useDataPlace } from './data-place.ts';
import { placeOfTable, TableNav } from './table-nav.tsx';
import { TableView } from './table-view.tsx';
import './data.css';

/** The page. */
export function DataPage() {
  const now = useStore(session);
  if (now.kind === 'none') return null;
  if (!now.project.scopes.includes('project:operate')) return <OperatorsOnly />;
  return <Data roles={now.project.roles} />;
}

interface Roles {
  readonly anon: string;
  readonly authenticated: string;
  readonly service: string;
}

function roleOf({ kind }: Caller, { anon, authenticated, service }: Roles): string {
  return { anon, authenticated, user: authenticated, service }[kind];
}

function Data({ roles }: { readonly roles: Roles }) {
  const place = useDataPlace();
  const { table, caller } = place;
  const { value: schema, problem } = useRoleSchema(roleOf(caller, roles));
  const as = JSON.stringify(caller);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a caller equal to the last one is a new object
  useEffect(() => chosenCaller.set(caller), [as]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const commands = useMemo(
    () =>
      (schema?.tables ?? []).map(({ name, object }) => ({
        id: `table ${object}`,
        title: `Table ${name}`,
        part: 'Data',
        words: object,
        run: () => goTo(placeOfTable({ ...place, caller }, name)),
      })),
    [schema, as],
  );
  useCommands(commands);
  return (
    <>
      <header className="page-head">
        <h1>Data</h1>
        <CallerChoice
          caller={caller}
          onChoose={(other) => {
            if (goTo(placeOf({ ...place, caller: other }), { replace: true })) chosenCaller.set(other);
          }}
        />
      </header>
      {schema === null ? (
        <Waiting what="tables" problem={problem} />
      ) : (
        <div className="split data" data-open={table !== null}>
          <TableNav schema={schema} place={place} />
          {table === null ? (
            <div className="empty unchosen">
              <p>
                {schema.tables.length === 0
                  ? `“Hidden from ${schema.role}” says why, and what to do.`
                  : `Select a table to see its rows as ${caller.kind === 'user' ? 'the user' : schema.role} sees them.`}
              </p>
            </div>
          ) : (
            <TableView key={table} schema={schema} name={table} place={place} />
          )}
        </div>
      )}
    </>
  );
}
