/**
 * The SQL of the last operation, and how PostgreSQL would run it now, under the role that sent it.
 */
import { useEffect, useState } from 'react';
import { CopyButton } from '../../components/copy-button.tsx';
import { ApiError } from '../../shared/api.ts';
import { askAsOperator } from '../../shared/session.ts';

/** An operation that was sent. */
export interface Operation {
  readonly query: string;
  readonly operationName: string | null;
  readonly variables: unknown;
  readonly role: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch. */
  readonly doneAt: number;
}

interface Statement {
  readonly text: string;
  readonly values: readonly (string | null)[];
  readonly plan: readonly string[];
}

/** @param props.operation Null: none was sent yet. */
export function PlanPanel({
  operation,
  onClose,
}: {
  readonly operation: Operation | null;
  readonly onClose: () => void;
}) {
  const [statements, setStatements] = useState<readonly Statement[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    if (operation === null) return;
    const { doneAt: _doneAt, ...body } = operation;
    let isOver = false;
    askAsOperator<{ statements: readonly Statement[] }>('/studio/explain', { method: 'POST', body }).then(
      (answer) => {
        if (isOver) return;
        setStatements(answer.body.statements);
        setProblem(null);
      },
      (error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        if (!isOver) setProblem(error.message);
      },
    );
    return () => {
      isOver = true;
    };
  }, [operation]);
  return (
    <section className="plan" aria-labelledby="plan-title">
      <div className="spread">
        <h2 id="plan-title">SQL and plan {operation !== null && <span className="badge">{operation.role}</span>}</h2>
        <button type="button" className="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      {operation === null && <p className="soft">Run an operation to see its SQL statement and plan.</p>}
      <p className="fault" role="alert">
        {problem}
      </p>
      {problem === null &&
        statements.map((statement, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two statements of an operation may be the same text
          <Explained key={index} {...statement} />
        ))}
    </section>
  );
}

function Explained({ text, values, plan }: Statement) {
  return (
    <div className="explained">
      <div className="stack">
        <div className="spread">
          <h3>Statement</h3>
          <CopyButton text={text} what="the statement" />
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <pre className="source" tabIndex={0}>
          {text}
        </pre>
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
