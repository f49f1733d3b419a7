/** The GraphQL page: GraphiQL, its caller, and how the database ran the last operation. */
import './graphql.css';
import { lazy, Suspense, useState } from 'react';
import { CallerChoice } from '../../components/caller-choice.tsx';
import { CommandLine } from '../../components/command-line.tsx';
import { KeysForm } from '../../components/keys-form.tsx';
import type { ApiError } from '../../shared/api.ts';
import { chosenCaller } from '../../shared/caller.ts';
import { apiKeys } from '../../shared/keys.ts';
import { session, tokenCommand, useMayOperate } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { useFetcher } from './caller-fetcher.ts';
import { IntrospectionOff } from './introspection-off.tsx';
import { type Operation, PlanPanel } from './plan-panel.tsx';

/** Larger than all other code together. */
const Editor = lazy(async () => ({ default: (await import('./graphiql-editor.tsx')).GraphiqlEditor }));

/** The page. */
export function GraphqlPage() {
  const keys = useStore(apiKeys);
  const now = useStore(session);
  const mayOperate = useMayOperate();
  const caller = useStore(chosenCaller);
  const [last, setLast] = useState<Operation | null>(null);
  const [closed, setClosed] = useState<string | null>(null);
  const [showsPlan, setShowsPlan] = useState(false);
  const [problem, setProblem] = useState<ApiError | null>(null);
  const fetcher = useFetcher({ caller, onOperation: setLast, onIntrospection: setClosed, onProblem: setProblem });
  if (now.kind === 'none') return null;
  if (keys.anon === '') {
    return (
      <div className="keys-page stack">
        <h1>Project API keys</h1>
        <p>
          No keys are needed with an access token that has the scope project:operate. To use one, sign out. This command
          creates one:
        </p>
        <CommandLine text={tokenCommand} />
        <KeysForm />
      </div>
    );
  }
  return (
    <div className="graphql">
      <header className="page-head">
        <h1>GraphQL</h1>
        <div className="row">
          <CallerChoice caller={caller} onChoose={chosenCaller.set} />
          <button
            type="button"
            aria-pressed={showsPlan}
            disabled={!mayOperate}
            title={mayOperate ? undefined : 'Needs an access token with the scope project:operate.'}
            onClick={() => setShowsPlan(!showsPlan)}
          >
            SQL and plan
          </button>
        </div>
      </header>
      <div role="status">
        {problem !== null && <p className="notice fault">{problem.message}</p>}
        {closed !== null && <IntrospectionOff hint={closed} />}
      </div>
      {problem?.status === 401 && (
        <details>
          <summary>Enter other keys</summary>
          {/* A new caller, so that the documentation is read again. */}
          <KeysForm onDone={() => chosenCaller.set({ ...caller })} />
        </details>
      )}
      <Suspense fallback={<p className="loading">Loading GraphiQL …</p>}>
        <Editor fetcher={fetcher} examples={now.project.exampleOperations} hasHeaders={false} />
      </Suspense>
      {showsPlan && <PlanPanel operation={last} onClose={() => setShowsPlan(false)} />}
    </div>
  );
}
