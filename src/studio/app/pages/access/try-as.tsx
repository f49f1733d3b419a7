/** The same query as two callers, side by side: what one sees and the other does not. */
import { useState } from 'react';
import { CallerChoice } from '../../components/caller-choice.tsx';
import { Fault } from '../../components/problem.tsx';
import { ask } from '../../shared/api.ts';
import { type Caller, credentialsOf } from '../../shared/caller.ts';
import { useTask } from '../../shared/requests.ts';
import { listField, type RoleSchema, useRoleSchema } from '../../shared/role-schema.ts';
import { createStore, type Store, useStore } from '../../shared/store.ts';

/** What was typed, kept while other pages are open; null: nothing yet. */
const query: Store<string | null> = createStore<string | null>(null);

type Sides = readonly [Caller, Caller];

/** The view. It begins with a table that visitors read, or else the service role. */
export function TryAs({ roles }: { readonly roles: { readonly anon: string; readonly service: string } }) {
  const typed = useStore(query);
  const { value: visitors } = useRoleSchema(typed === null ? roles.anon : null);
  const ofVisitors = visitors && firstQuery(visitors);
  const { value: service } = useRoleSchema(visitors && ofVisitors === null ? roles.service : null);
  const ofService = service && (firstQuery(service) ?? '{\n  __typename\n}');
  const text = typed ?? ofVisitors ?? ofService ?? '';
  const [callers, setCallers] = useState<Sides>([{ kind: 'anon' }, { kind: 'service' }]);
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
        onChange={({ currentTarget }) => query.set(currentTarget.value)}
      />
      <div className="row">
        <button type="button" className="primary" disabled={isBusy} onClick={send}>
          Run as both
        </button>
        <span className="soft small" role="status">
          {left !== '' && (left === right ? 'Both get the same answer.' : 'The answers differ.')}
        </span>
      </div>
      <Fault>{problem?.message}</Fault>
      <div className="sides">
        {callers.map((caller, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the left and the right one
          <section key={index} className="stack" aria-label={index === 0 ? 'First caller' : 'Second caller'}>
            <CallerChoice
              caller={caller}
              onChoose={(chosen) => setCallers(index === 0 ? [chosen, callers[1]] : [callers[0], chosen])}
            />
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
            <pre className="source" tabIndex={0}>
              {answers[index]}
            </pre>
          </section>
        ))}
      </div>
    </div>
  );
}

/** The first rows of a table, of one with row security if there is one: there, callers differ. Null: the role reads none. */
function firstQuery({ tables }: RoleSchema): string | null {
  const lists = tables.flatMap((table) => {
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
  if (/^\s*(mutation|subscription)\b/m.test(text)) return 'Only queries are compared: a mutation would run twice.';
  const { path = '/graphql/v1', headers } = await credentialsOf(caller);
  const { body } = await ask<unknown>(path, { method: 'POST', headers, body: { query: text } });
  return JSON.stringify(body, null, 2);
}
