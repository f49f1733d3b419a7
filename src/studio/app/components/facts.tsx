/** Names and values below each other: what is known of one thing. */
import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';

/** The list. @param props.children `Fact`s and `CopiedFact`s. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className="facts">{children}</dl>;
}

/** One of them. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface CopiedFactProps {
  readonly name: string;
  readonly text: string;
  /** It is copied without being shown. */
  readonly isSecret?: boolean;
}

/** A value to be copied, in one line. */
export function CopiedFact({ name, text, isSecret = false }: CopiedFactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="copied-fact">
        <code title={isSecret ? undefined : text}>{isSecret ? '•'.repeat(24) : text}</code>
        <CopyButton text={text} what={name} isIcon />
      </dd>
    </div>
  );
}
