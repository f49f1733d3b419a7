/** The metadata of a user as JSON: what the user may change, and what only servers may. */
import { useId, useState } from 'react';
import { useUnsaved } from '../../shared/unsaved.ts';
import { changeUser } from '../../shared/users.ts';
import { nameOf } from './describe-user.ts';
import { changedMeanwhile, useSeen } from './use-seen.ts';
import { tabTies, type UserTabProps } from './user-tab.ts';

type Data = Readonly<Record<string, unknown>>;

/** The tab. */
export function MetadataTab({ user, onAct, isBusy }: UserTabProps) {
  const save = (field: 'user_metadata' | 'app_metadata') => (change: Data, done: () => void) =>
    onAct(() => changeUser(user, { [field]: change }).then(done), `The metadata of ${nameOf(user)} was changed.`);
  return (
    <>
      <Editor
        title="User metadata"
        note="The user may change it."
        data={user.user_metadata}
        isBusy={isBusy}
        onSave={save('user_metadata')}
      />
      <Editor
        title="App metadata"
        note="In tokens, for policies; the user cannot change it."
        data={user.app_metadata}
        isBusy={isBusy}
        onSave={save('app_metadata')}
      />
    </>
  );
}

interface EditorProps {
  readonly title: string;
  readonly note: string;
  readonly data: Data;
  readonly isBusy: boolean;
  /** @param done Called when it is saved. */
  readonly onSave: (change: Data, done: () => void) => Promise<void>;
}

function Editor({ title, note, data, isBusy, onSave }: EditorProps) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const seen = useSeen(data, typed !== null);
  const text = typed ?? JSON.stringify(data, null, 2);
  const { value, fault } = readObject(text);
  const change = value === null ? {} : changeOf(seen, value);
  useUnsaved(fault !== null || Object.keys(change).length > 0, tabTies);
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void onSave(change, () => setTyped(null));
      }}
    >
      <label htmlFor={id}>{title}</label>
      <textarea
        id={id}
        rows={Math.min(20, Math.max(5, text.split('\n').length + 1))}
        value={text}
        spellCheck={false}
        aria-invalid={fault !== null}
        aria-describedby={`${id}-note`}
        onChange={({ target }) => setTyped(target.value)}
      />
      {JSON.stringify(seen) !== JSON.stringify(data) && (
        <p className="notice warning" role="status">
          {changedMeanwhile} Only the members that you changed are saved.
        </p>
      )}
      <div className="spread">
        <span id={`${id}-note`} className={fault === null ? 'soft small' : 'fault small'}>
          {fault ?? note}
        </span>
        <button type="submit" disabled={isBusy || fault !== null || Object.keys(change).length === 0}>
          Save <span className="visually-hidden">{title}</span>
        </button>
      </div>
    </form>
  );
}

function readObject(text: string): { readonly value: Data | null; readonly fault: string | null } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { value: value as Data, fault: null };
    return { value: null, fault: 'The value must be an object.' };
  } catch (error) {
    return { value: null, fault: `Not JSON. ${(error as Error).message}` };
  }
}

/** The API merges: null removes a member. */
function changeOf(before: Data, after: Data): Data {
  const isSame = (name: string) => JSON.stringify(before[name]) === JSON.stringify(after[name]);
  const changed = Object.entries(after).filter(([name]) => !isSame(name));
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  return Object.fromEntries([...changed, ...removed.map((name) => [name, null] as const)]);
}
