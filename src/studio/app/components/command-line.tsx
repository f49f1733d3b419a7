/** A command to be copied into a terminal. */
import { Fragment } from 'react';
import { CopyButton } from './copy-button.tsx';

/** @param props.text The command. It breaks at blanks, commas and slashes alone. */
export function CommandLine({ text }: { readonly text: string }) {
  return (
    <span className="command-line">
      <code>
        {text.split(/(?<=[ ,/])/).map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they stand in their order, and never change alone
          <Fragment key={index}>
            <wbr />
            <span>{part}</span>
          </Fragment>
        ))}
      </code>{' '}
      <CopyButton text={text} what="the command" isIcon />
    </span>
  );
}
