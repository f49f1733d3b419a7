/**
 * The Schema page: what each role sees of the database, as tables and as a drawing, and what it does not see and why.
 */
import type { StudioProject } from '../../../routes/studio-project.ts';
import { Choice } from '../../components/choice.tsx';
import { OperatorsOnly, Waiting } from '../../components/problem.tsx';
import { hiddenPlaceOf, placeInSchema } from '../../shared/places.ts';
import { type RoleSchema, useRoleSchema } from '../../shared/role-schema.ts';
import { goTo, usePlace } from '../../shared/router.ts';
import { session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { MissingList, MissingOverview } from './missing-list.tsx';
import { SchemaGraph } from './schema-graph.tsx';
import { AllTables, TableDetail } from './table-detail.tsx';
import { TableList } from './table-list.tsx';
import './schema.css';

/** The page. */
export function SchemaPage() {
  const now = useStore(session);
  if (now.kind === 'none') return null;
  if (!now.project.scopes.includes('project:operate')) {
    return <OperatorsOnly />;
  }
  return <Schema roles={now.project.roles} />;
}

function Schema({ roles }: { readonly roles: StudioProject['roles'] }) {
  const { segments, query } = usePlace();
  const role = query.get('role') ?? roles.anon;
  const named = segments[1] ?? null;
  const isHidden = named === null && query.get('view') === 'hidden';
  const names = [...new Set([roles.anon, roles.authenticated, roles.service, role])];
  const { value: schema, problem } = useRoleSchema(role);
  const name = named ?? (isHidden || schema === null ? null : centralTable(schema));
  return (
    <>
      <header className="page-head">
        <h1>Schema</h1>
        <Choice
          label="Role"
          options={names.map((option) => ({ name: option, title: option }))}
          chosen={role}
          onChoose={(other) => goTo(isHidden ? hiddenPlaceOf(other) : placeInSchema(other, named), { replace: true })}
        />
      </header>
      {schema === null ? (
        <Waiting what={`schema of ${role}`} problem={problem} />
      ) : (
        <div className="schema split" data-open={named !== null}>
          <TableList schema={schema} chosen={name} />
          <SchemaGraph schema={schema} chosen={name} />
          <section className="schema-side" aria-label={name ?? 'Hidden objects'}>
            {name === null ? <MissingOverview schema={schema} /> : <Named schema={schema} name={name} />}
          </section>
        </div>
      )}
    </>
  );
}

/** The table with the most relationships; null for a role that sees none. */
function centralTable({ tables, relationships }: RoleSchema): string | null {
  const count = ({ name }: RoleSchema['tables'][number]) =>
    relationships.filter(({ from, to }) => from === name || to === name).length;
  const [first] = [...tables].sort((a, b) => count(b) - count(a) || a.name.localeCompare(b.name));
  return first?.name ?? null;
}

/** The table in the address, or why the role does not see it. */
function Named({ schema, name }: { readonly schema: RoleSchema; readonly name: string }) {
  const table = schema.tables.find((candidate) => candidate.name === name);
  if (table !== undefined) return <TableDetail schema={schema} table={table} />;
  const reasons = schema.missing.filter(({ names }) => names.includes(name));
  return (
    <div className="schema-detail">
      <AllTables role={schema.role} />
      <h2>
        {name} is hidden from {schema.role}
      </h2>
      {reasons.length === 0 ? <p className="soft">Table not found.</p> : <MissingList missing={reasons} />}
    </div>
  );
}
