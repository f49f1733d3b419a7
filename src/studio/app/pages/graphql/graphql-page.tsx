/** The GraphQL page: GraphiQL, its caller, and how the database ran the last operation. */
import './graphql.css';
import { lazy, Suspense, useState } from 'react';
import type { StudioProject } from '../../../routes/studio-project.ts';
import { CallerChoice } from '../../components/caller-choice.tsx';
import { OperatorsOnly } from '../../components/problem.tsx';
import { type ApiError, outage } from '../../shared/api.ts';
import { type Caller, callersOfVisit, roleOf } from '../../shared/caller.ts';
import { useRoleSdl } from '../../shared/role-sdl.ts';
import { session, useMayOperate } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { useFetcher } from './caller-fetcher.ts';
import { type Operation, PlanPanel } from './plan-panel.tsx';

/** Larger than all other code together. */
const load = () => import('./graphiql-editor.tsx');
const Editor = lazy(async () => ({ default: (await load()).GraphiqlEditor }));

/** What the page runs may write: it begins with the least. */
const visitor: Caller = { kind: 'anon' };

/** The page. */
export function GraphqlPage() {
  const now = useStore(session);
  const mayOperate = useMayOperate();
  if (now.kind === 'none') return null;
  return mayOperate ? <Graphql project={now.project} /> : <OperatorsOnly />;
}

function Graphql({ project }: { readonly project: StudioProject }) {
  const caller = useStore(callersOfVisit.graphql) ?? visitor;
  const [last, setLast] = useState<Operation | null>(null);
  const [showsPlan, setShowsPlan] = useState(false);
  const [problem, setProblem] = useState<ApiError | null>(null);
  const fetcher = useFetcher({ caller, onOperation: setLast, onProblem: setProblem });
  // Not by introspection, which many roles may not use.
  const read = useRoleSdl(roleOf(caller, project.roles));
  // An outage is told above the page.
  const told = useStore(outage) === null ? (problem ?? read.problem) : null;
  const choose = (chosen: Caller): void => {
    setProblem(null);
    callersOfVisit.graphql.set(chosen);
  };
  return (
    <div className="graphql">
      <header className="page-head">
        <h1>GraphQL</h1>
        <div className="row">
          <CallerChoice caller={caller} onChoose={choose} />
          <button type="button" aria-pressed={showsPlan} onClick={() => setShowsPlan(!showsPlan)}>
            SQL and plan
          </button>
        </div>
      </header>
      <div role="status">{told !== null && <p className="notice fault">{told.message}</p>}</div>
      <Suspense fallback={<p className="loading">Loading GraphiQL …</p>}>
        <Editor
          fetcher={fetcher}
          schema={read.value}
          isRead={read.value !== null || read.problem !== null}
          examples={project.exampleOperations}
          hasHeaders={false}
        />
      </Suspense>
      {showsPlan && <PlanPanel operation={last} onClose={() => setShowsPlan(false)} />}
    </div>
  );
}
