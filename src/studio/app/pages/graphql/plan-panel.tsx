/** The SQL of the last operation, and its current PostgreSQL plan under the role that sent it. */
import { lazy, Suspense } from 'react';
import type { ExplainedStatement } from '../../../../graphql/execute/explain-operation.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Empty, Fault } from '../../components/problem.tsx';
import { useAnswer } from '../../shared/requests.ts';
import { askProject } from '../../shared/session.ts';

/** A sent operation. */
export interface Operation {
  readonly query: string;
  readonly operationName: string | null;
  readonly variables: unknown;
  readonly role: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch. */
  readonly doneAt: number;
}

interface PlanPanelProps {
  /** Null: none sent yet. */
  readonly operation: Operation | null;
  readonly onClose: () => void;
}

/** The statements of the last operation. */
export function PlanPanel({ operation, onClose }: PlanPanelProps) {
  const key = operation === null ? null : JSON.stringify(operation);
  const { value, problem } = useAnswer(key, async () => {
    const { doneAt: _doneAt, ...body } = operation!;
    const answer = await askProject<{ statements: readonly ExplainedStatement[] }>('explain', {
      method: 'POST',
      body,
    });
    return answer.body.statements;
  });
  return (
    <section className="plan" aria-labelledby="plan-title">
      <div className="spread">
        <h2 id="plan-title">SQL and plan {operation !== null && <span className="badge">{operation.role}</span>}</h2>
        <button type="button" className="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      {operation === null && (
        <Empty title="No operation yet">
          <p>Run one above. Its SQL statement and its plan appear here.</p>
        </Empty>
      )}
      <Fault>{problem?.message}</Fault>
      {problem === null &&
        value?.map((statement, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two statements of an operation may be the same text
          <Explained key={index} {...statement} />
        ))}
    </section>
  );
}

// Loaded with the first statement shown.
const Sql = lazy(async () => ({ default: (await import('../../components/sql-text.tsx')).SqlText }));

function Explained({ text, values, plan }: ExplainedStatement) {
  return (
    <div className="explained">
      <div className="stack">
        <div className="spread">
          <h3>Statement</h3>
          <CopyButton text={text} what="the statement" />
        </div>
        <Suspense fallback={<p className="loading">Loading the statement …</p>}>
          <Sql statement={text} />
        </Suspense>
        {values.length > 0 && (
          <p className="small soft">
            Values: {values.map((value, index) => `$${index + 1} = ${value ?? 'null'}`).join(', ')}
          </p>
        )}
      </div>
      <div className="stack">
        <h3>Plan</h3>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <pre className="source plan-text" tabIndex={0}>
          {plan.join('\n')}
        </pre>
      </div>
    </div>
  );
}
