/** A long word that breaks where its parts meet, not in the middle of one. */
import { Fragment } from 'react';

/** Names break at their humps, and behind `_` and `.`. */
const joint = /(?<=[a-z0-9])(?=[A-Z])|(?<=[_.])/;

/** The text. */
export function Breakable({ text }: { readonly text: string }) {
  return text.split(joint).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: they stand in their order, and never change alone
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
