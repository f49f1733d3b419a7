/** A long word that breaks where its parts meet, not in the middle of one. */
import { Fragment } from 'react';

interface BreakableProps {
  readonly text: string;
  /** Where it may break. Default: the humps of names, and behind `_` and `.`. */
  readonly at?: RegExp;
}

/** The text. */
export function Breakable({ text, at = /(?<=[a-z0-9])(?=[A-Z])|(?<=[_.])/ }: BreakableProps) {
  return text.split(at).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: they stand in their order, and never change alone
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
