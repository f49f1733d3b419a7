/** The same query as two callers, side by side: what one sees and the other does not. */
import { useState } from 'react';
import { CallerChoice } from '../../components/caller-choice.tsx';
import { Fault } from '../../components/problem.tsx';
import { ask } from '../../shared/api.ts';
import { type Caller, credentialsOf } from '../../shared/caller.ts';
import { useTask } from '../../shared/requests.ts';
import { listField, type RoleSchema, useRoleSchema } from '../../shared/role-schema.ts';
import { createStore, type Store, useStore } from '../../shared/store.ts';

/** What was typed for each table, kept while other pages are open. */
const queries: Store<Readonly<Record<string, string>>> = createStore<Readonly<Record<string, string>>>({});

type Sides = readonly [Caller, Caller];

interface TryAsProps {
  readonly roles: { readonly anon: string; readonly authenticated: string; readonly service: string };
  /** The table that one came from, as SQL writes it; null: none. */
  readonly object: string | null;
  /** The role at which one looked there. */
  readonly role: string | null;
}

/** The view. It begins with the table that one came from, or one that visitors read, or else the service role. */
export function TryAs({ roles, object, role }: TryAsProps) {
  const typed = useStore(queries)[object ?? ''];
  // Whoever reads a table has its names.
  const [first, second] = object === null ? [roles.anon, roles.service] : [roles.service, role ?? roles.authenticated];
  const { value: some } = useRoleSchema(typed === undefined ? first : null);
  const ofSome = some && firstQuery(some, object);
  const { value: others } = useRoleSchema(some && ofSome === null ? second : null);
  const ofOthers = others && (firstQuery(others, object) ?? '{\n  __typename\n}');
  const text = typed ?? ofSome ?? ofOthers ?? '';
  const isSignedIn = role === roles.authenticated;
  const [callers, setCallers] = useState<Sides>([{ kind: isSignedIn ? 'authenticated' : 'anon' }, { kind: 'service' }]);
  const [answers, setAnswers] = useState<readonly string[]>(['', '']);
  const { problem, isBusy, run } = useTask();
  const send = (): void => {
    void run(async () => setAnswers(await Promise.all(callers.map((caller) => answerOf(caller, text)))));
  };
  const [left = '', right = ''] = answers;
  return (
    <div className="try-as stack">
      <label htmlFor="try-as-query">Query</label>
      <textarea
        id="try-as-query"
        rows={Math.min(20, Math.max(8, text.split('\n').length))}
        spellCheck={false}
        value={text}
        onChange={({ currentTarget }) => queries.set({ ...queries.get(), [object ?? '']: currentTarget.value })}
      />
      <div className="row">
        <button type="button" className="primary" disabled={isBusy} onClick={send}>
          Run as both
        </button>
        <span className="soft small" role="status">
          {left !== '' && right !== '' && (left === right ? 'Both get the same answer.' : 'The answers differ.')}
        </span>
      </div>
      <Fault>{problem?.message}</Fault>
      <div className="sides">
        {callers.map((caller, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the left and the right one
          <section key={index} className="stack" aria-label={index === 0 ? 'First caller' : 'Second caller'}>
            <CallerChoice
              caller={caller}
              onChoose={(chosen) => {
                setCallers(index === 0 ? [chosen, callers[1]] : [callers[0], chosen]);
                // It is another caller's.
                setAnswers(index === 0 ? ['', right] : [left, '']);
              }}
            />
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
            <pre className="source" tabIndex={0}>
              {answers[index] || <span className="soft">The answer appears here.</span>}
            </pre>
          </section>
        ))}
      </div>
    </div>
  );
}

/** The first rows of a table, of one with row security if there is one: there, callers differ. Null: the role reads none. @param object The only one. */
function firstQuery({ tables }: RoleSchema, object: string | null): string | null {
  const wanted = tables.filter((table) => object === null || table.object === object);
  const lists = wanted.flatMap((table) => {
    const list = listField(table);
    const columns = table.fields.filter(({ kind }) => kind === 'column').slice(0, 5);
    return list === null || columns.length === 0 ? [] : [{ list, columns, rowSecurity: table.rowSecurity }];
  });
  const first = lists.find(({ rowSecurity }) => rowSecurity) ?? lists[0];
  if (first === undefined) return null;
  const names = first.columns.map(({ name }) => `        ${name}`).join('\n');
  return `{\n  ${first.list}(first: 5) {\n    edges {\n      node {\n${names}\n      }\n    }\n  }\n}`;
}

async function answerOf(caller: Caller, text: string): Promise<string> {
  if (/^[ \t]*(mutation|subscription)\b/m.test(text)) return 'Only queries are compared: a mutation would run twice.';
  const { path = '/graphql/v1', headers } = await credentialsOf(caller);
  const { body } = await ask<unknown>(path, { method: 'POST', headers, body: { query: text } });
  return JSON.stringify(body, null, 2);
}
