/**
 * What stands where something cannot be shown or done, and why.
 */
import type { ReactNode } from 'react';
import type { ApiError } from '../shared/api.ts';

interface ProblemProps {
  readonly title: string;
  readonly children?: ReactNode;
}

/** A page, or a part of one. @param props The children say what to do. */
export function Problem({ title, children }: ProblemProps) {
  return (
    <div className="empty" role="alert">
      <h1>{title}</h1>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}

/** In the middle of a place that has nothing to show yet. @param props The children say what to do next. */
export function Empty({ title, children }: ProblemProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

interface WaitingProps {
  /** What is read: `emails`. */
  readonly what: string;
  readonly problem: ApiError | null;
}

/** In place of what is not read yet, or cannot be. */
export function Waiting({ what, problem }: WaitingProps) {
  if (problem === null) return <p className="loading">Loading {what} …</p>;
  return <Problem title={`The ${what} could not be loaded`}>{problem.message}</Problem>;
}

/** Below what was tried; nothing where there is no text. */
export function Fault({ children, id }: { readonly children: ReactNode; readonly id?: string }) {
  return (
    <p id={id} className="fault" role="alert">
      {children}
    </p>
  );
}
