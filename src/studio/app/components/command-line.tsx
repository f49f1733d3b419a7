/** A command to be copied into a terminal. */
import { Breakable } from './breakable.tsx';
import { CopyButton } from './copy-button.tsx';

/** @param props.text The command. It breaks at blanks and commas alone. */
export function CommandLine({ text }: { readonly text: string }) {
  return (
    <span className="command-line">
      <code>
        <Breakable text={text} at={/(?<=[ ,])/} />
      </code>{' '}
      <CopyButton text={text} what="the command" isIcon />
    </span>
  );
}
