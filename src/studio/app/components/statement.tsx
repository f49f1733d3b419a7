/** SQL for an operator to copy. The studio does not run it. */
import { CopyButton } from './copy-button.tsx';
import './statement.css';

/** The statements. */
export function Statement({ text }: { readonly text: string }) {
  return (
    <div className="fix">
      <code>{text}</code>
      <CopyButton text={text} what={text} isIcon />
    </div>
  );
}
