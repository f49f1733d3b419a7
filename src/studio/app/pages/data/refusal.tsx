/** What the API said, as it said it. */
import { useEffect, useRef } from 'react';
import type { ApiError } from '../../shared/api.ts';
import { OperationError } from '../../shared/graphql.ts';

interface RefusalProps {
  readonly problem: ApiError | null;
  /** It stands among others, which are scrolled to show it. */
  readonly isHere?: boolean;
}

/** The words, and what to do. */
export function Refusal({ problem, isHere = false }: RefusalProps) {
  const words = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isHere && problem !== null) words.current?.scrollIntoView({ block: 'center' });
  }, [isHere, problem]);
  return (
    <div ref={words} role="alert">
      {problem !== null && (
        <div className="notice fault small">
          {problem.message}
          {problem instanceof OperationError && problem.hint !== null && <p>{problem.hint}</p>}
        </div>
      )}
    </div>
  );
}
