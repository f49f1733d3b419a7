/**
 * A page, or a part of one, that cannot show what it should, and why.
 */
import type { ReactNode } from 'react';

interface ProblemProps {
  readonly title: string;
  readonly children?: ReactNode;
}

/** @param props The children say what to do. */
export function Problem({ title, children }: ProblemProps) {
  return (
    <div className="problem" role="alert">
      <h1>{title}</h1>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}
