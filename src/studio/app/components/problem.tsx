/** Replaces content that cannot be shown, with the reason. */
import type { ReactNode } from 'react';
import type { ApiError } from '../shared/api.ts';
import { useMayOperate } from '../shared/session.ts';
import { tokenCommand } from '../shared/token-commands.ts';
import { ProjectCommand } from './project-command.tsx';

interface ProblemProps {
  readonly title: string;
  readonly children?: ReactNode;
}

/** A page, or a part of one. @param props The children state the fix. */
export function Problem({ title, children }: ProblemProps) {
  return (
    <div className="empty" role="alert">
      <h1>{title}</h1>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}

/** Replaces a page that only operators may see. */
export function OperatorsOnly() {
  return (
    <div className="empty" role="alert">
      <h1>Access denied</h1>
      <p>This page needs an access token with the scope project:operate. This command creates one:</p>
      <ProjectCommand text={tokenCommand} />
    </div>
  );
}

interface OperatorPageProps {
  readonly title: string;
  /** At the end of the head. */
  readonly head?: ReactNode;
  readonly children: ReactNode;
}

/** A page for operators alone: its head, and its content, or what other tokens lack. */
export function OperatorPage({ title, head, children }: OperatorPageProps) {
  const mayOperate = useMayOperate();
  return (
    <>
      <header className="page-head">
        <h1>{title}</h1>
        {mayOperate && head}
      </header>
      {mayOperate ? children : <OperatorsOnly />}
    </>
  );
}

/** Replaces empty content. @param props The children state the next step. */
export function Empty({ title, children }: ProblemProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

interface WaitingProps {
  /** The content: `emails`. */
  readonly what: string;
  readonly problem: ApiError | null;
}

/** Replaces content that is loading, or failed to load. */
export function Waiting({ what, problem }: WaitingProps) {
  if (problem === null) return <p className="loading">Loading {what} …</p>;
  return <Problem title={`The ${what} could not be loaded`}>{problem.message}</Problem>;
}

/** The error below an action; nothing without a text. */
export function Fault({ children, id }: { readonly children: ReactNode; readonly id?: string }) {
  return (
    <p id={id} className="fault" role="alert">
      {children}
    </p>
  );
}
