/** A command to be copied into a terminal. */
import { CopyButton } from './copy-button.tsx';
import './command-line.css';

/** @param props.text The command. */
export function CommandLine({ text }: { readonly text: string }) {
  return (
    <span className="command-line">
      <code>{text}</code> <CopyButton text={text} what="the command" />
    </span>
  );
}
