/** The Data page: the rows of a table as a caller of one's choice sees and changes them, through the API. */
import { useMemo } from 'react';
import type { StudioProject } from '../../../routes/studio-project.ts';
import { CallerChoice } from '../../components/caller-choice.tsx';
import { OperatorsOnly, Waiting } from '../../components/problem.tsx';
import { useCommands } from '../../shared/commands.ts';
import { goTo } from '../../shared/router.ts';
import { session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { type DataPlace, placeOf, placeOfTable, useAskedPlace } from './data-place.ts';
import { remember, useSeenAs } from './seen-as.ts';
import { TableNav } from './table-nav.tsx';
import { TableView } from './table-view.tsx';
import './data.css';

/** The page. */
export function DataPage() {
  const now = useStore(session);
  if (now.kind === 'none') return null;
  if (!now.project.scopes.includes('project:operate')) return <OperatorsOnly />;
  return <Data project={now.project} />;
}

function Data({ project }: { readonly project: StudioProject }) {
  const asked = useAskedPlace();
  const { caller, schema, problem } = useSeenAs(asked, project);
  const place: DataPlace = { ...asked, caller };
  const { table } = place;
  const as = JSON.stringify(caller);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a caller equal to the last one is a new object
  const commands = useMemo(
    () =>
      (schema?.tables ?? []).map(({ name, object }) => ({
        id: `table ${object}`,
        title: `Table ${name}`,
        part: 'Data',
        words: object,
        run: () => goTo(placeOfTable(place, name)),
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
            if (goTo(placeOf({ ...place, caller: other }), { replace: true })) remember(project.ref, other);
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
