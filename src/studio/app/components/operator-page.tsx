/** A page for operators alone: its head, and its content, or what other tokens lack. */
import type { ReactNode } from 'react';
import { useMayOperate } from '../shared/session.ts';
import { OperatorsOnly } from './problem.tsx';

interface OperatorPageProps {
  readonly title: string;
  /** At the end of the head. */
  readonly head?: ReactNode;
  readonly children: ReactNode;
}

/** The page. */
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
