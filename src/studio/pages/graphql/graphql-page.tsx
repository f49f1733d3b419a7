/**
 * The page GraphQL: GraphiQL, as whom it asks, and what became of the last operation in the database.
 */
import { lazy, Suspense, useState } from 'react';
import { CopyButton } from '../../components/copy-button.tsx';
import { KeysForm } from '../../components/keys-form.tsx';
import type { ApiError } from '../../shared/api.ts';
import { apiKeys } from '../../shared/keys.ts';
import { session, useMayOperate } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { chosenCaller } from './caller.ts';
import { CallerChoice } from './caller-choice.tsx';
import { type Operation, PlanPanel } from './plan-panel.tsx';
import './graphql.css';

/** Larger than everything else together. It measures its font when it is made, so the font goes before. */
const Editor = lazy(async () => {
  const [{ GraphiqlEditor }] = await Promise.all([
    import('./graphiql-editor.tsx'),
    document.fonts.load('14px "Fira Code"').catch(() => null),
  ]);
  return { default: GraphiqlEditor };
});

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
  if (now.kind === 'none') return null;
  if (keys.anon === '') {
    return (
      <div className="keys-page stack">
        <h1>Project API keys</h1>
        <KeysForm />
      </div>
    );
  }
  return (
    <div className="graphql">
      <header className="page-head">
        <h1>GraphQL</h1>
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
      </header>
      <div role="status">
        {problem !== null && <p className="notice fault">{problem.message}</p>}
        {closed !== null && <IntrospectionOff hint={closed} />}
      </div>
      {problem?.status === 401 && (
        <details>
          <summary>Enter other keys</summary>
          {/* As another caller, so that the documentation is read again. */}
          <KeysForm onDone={() => chosenCaller.set({ ...caller })} />
        </details>
      )}
      <Suspense fallback={<p className="loading">Loading GraphiQL …</p>}>
        <Editor
          caller={caller}
          examples={now.project.exampleOperations}
          onOperation={setLast}
          onIntrospection={setClosed}
          onProblem={setProblem}
        />
      </Suspense>
      {showsPlan && <PlanPanel operation={last} onClose={() => setShowsPlan(false)} />}
    </div>
  );
}

/** @param hint A sentence and the SQL that turns it on; empty where the server does not say. */
function IntrospectionOff({ hint }: { readonly hint: string }) {
  const [, sql] = hint.split('Change it with: ');
  return (
    <div className="notice warning spread">
      <span>
        Introspection is off for this role, so documentation and completion are unavailable. Operations still work. To
        turn it on,{' '}
        {sql === undefined ? 'set "introspection": true in the comment directive of the schema.' : <code>{sql}</code>}
      </span>
      {sql !== undefined && <CopyButton text={sql} what="the statement" />}
    </div>
  );
}
