/** The page API docs: programs that call this project, for its tables, functions and ways to sign in, as a role sees them. */
import './api-docs.css';
import type { GraphQLSchema } from 'graphql';
import { useMemo, useState } from 'react';
import { Choice } from '../../components/choice.tsx';
import { Link } from '../../components/link.tsx';
import { Problem, Waiting } from '../../components/problem.tsx';
import { SearchForm } from '../../components/search-form.tsx';
import { type CallerKind, type ClientName, clients } from '../../shared/client-code.ts';
import { exampleFunctions, exampleTables } from '../../shared/example-operations.ts';
import { apiKeys } from '../../shared/keys.ts';
import { useRoleSdl } from '../../shared/role-sdl.ts';
import { goTo, usePlace } from '../../shared/router.ts';
import { session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { authFlows } from './auth-flows.ts';
import { FlowDocs, FunctionDocs, type Project, TableDocs } from './docs-of.tsx';

/** The page. */
export function ApiDocsPage() {
  const now = useStore(session);
  return now.kind === 'none' ? null : <Docs roles={now.project.roles} />;
}

interface DocsProps {
  readonly roles: { readonly anon: string; readonly authenticated: string; readonly service: string };
}

function Docs({ roles }: DocsProps) {
  const { segments, query } = usePlace();
  const role = query.get('role') ?? roles.anon;
  const client = clients.find(({ name }) => name === query.get('client'))?.name ?? clients[0].name;
  const { value: schema, problem } = useRoleSdl(role);
  const [, kind = null, name = null] = segments;
  const at = (change: Readonly<Record<string, string>>, path = segments.slice(1).join('/')) =>
    placeOf(path, { ...Object.fromEntries(query), ...change });
  return (
    <>
      <header className="page-head">
        <h1>API docs</h1>
        <div className="row">
          <Choice
            label="Role"
            options={[roles.anon, roles.authenticated, roles.service].map((each) => ({ name: each, title: each }))}
            chosen={role}
            onChoose={(each) => goTo(at({ role: each }), { replace: true })}
          />
          <select
            aria-label="Client"
            value={client}
            onChange={({ target }) => goTo(at({ client: target.value }), { replace: true })}
          >
            {clients.map((each) => (
              <option key={each.name} value={each.name}>
                {each.title}
              </option>
            ))}
          </select>
        </div>
      </header>
      {schema === null ? (
        <Waiting what="schema" problem={problem} />
      ) : (
        <div className="split" data-open={kind !== null}>
          <Contents schema={schema} at={(path) => at({}, path)} chosen={`${kind}/${name}`} />
          <article className={kind === null ? 'empty unchosen' : 'api-docs chosen'}>
            {kind === null ? (
              <p>Choose a table, a function or a way to sign in.</p>
            ) : (
              <>
                <Link className="to-list" to={at({}, '')}>
                  All of the API
                </Link>
                <Chosen kind={kind} name={name} schema={schema} role={role} roles={roles} client={client} />
              </>
            )}
          </article>
        </div>
      )}
    </>
  );
}

function placeOf(path: string, query: Readonly<Record<string, string>>): string {
  const search = new URLSearchParams(query).toString();
  return `api-docs${path === '' ? '' : `/${path}`}${search === '' ? '' : `?${search}`}`;
}

interface ContentsProps {
  readonly schema: GraphQLSchema;
  readonly at: (path: string) => string;
  readonly chosen: string;
}

function Contents({ schema, at, chosen }: ContentsProps) {
  const [wanted, setWanted] = useState('');
  const parts = useMemo(
    () => [
      { title: 'Sign-in', entries: authFlows.map(({ name, title }) => ({ path: `sign-in/${name}`, title })) },
      {
        title: 'Tables',
        entries: [...exampleTables(schema)].sort().map((name) => ({ path: `table/${name}`, title: name })),
      },
      {
        title: 'Functions',
        entries: exampleFunctions(schema).map(({ name }) => ({ path: `function/${name}`, title: name })),
      },
    ],
    [schema],
  );
  const shown = parts
    .map(({ title, entries }) => ({
      title,
      entries: entries.filter((entry) => entry.title.toLowerCase().includes(wanted.toLowerCase())),
    }))
    .filter(({ entries }) => entries.length > 0);
  return (
    <nav className="link-list api-list" aria-label="API">
      <SearchForm label="Find a table or function" value={wanted} onType={setWanted} />
      <ul>
        {shown.map(({ title, entries }) => (
          <li key={title}>
            <p className="part" id={`api-${title}`}>
              {title}
            </p>
            <ul aria-labelledby={`api-${title}`}>
              {entries.map((entry) => (
                <li key={entry.path}>
                  <Link to={at(entry.path)} isCurrent={entry.path === chosen}>
                    <strong>{entry.title}</strong>
                  </Link>
                </li>
              ))}
            </ul>
          </li>
        ))}
        {shown.length === 0 && <li className="soft none">Nothing has this name.</li>}
      </ul>
    </nav>
  );
}

interface ChosenProps extends DocsProps {
  readonly kind: string;
  readonly name: string | null;
  readonly schema: GraphQLSchema;
  readonly role: string;
  readonly client: ClientName;
}

function Chosen({ kind, name, schema, role, roles, client }: ChosenProps) {
  const { anon } = useStore(apiKeys);
  const caller: CallerKind = role === roles.anon ? 'anon' : role === roles.service ? 'service' : 'user';
  const project: Project = { url: location.origin, anonKey: anon || 'YOUR_ANON_KEY', caller };
  if (kind === 'table' && name !== null && exampleTables(schema).includes(name)) {
    return <TableDocs key={name} name={name} schema={schema} client={client} project={project} />;
  }
  const routine = kind === 'function' ? exampleFunctions(schema).find((each) => each.name === name) : undefined;
  if (routine !== undefined) return <FunctionDocs routine={routine} client={client} project={project} />;
  const flow = kind === 'sign-in' ? authFlows.find((each) => each.name === name) : undefined;
  if (flow !== undefined) return <FlowDocs flow={flow} client={client} project={project} />;
  return (
    <Problem title={`${name ?? kind} is not there`}>
      The role {role} sees nothing of this name. Choose another role or another entry.
    </Problem>
  );
}
