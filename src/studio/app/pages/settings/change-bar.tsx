/** The bar below the settings while something is not saved: what, discard, save; and what came of it. */
import { useState } from 'react';
import { Link } from '../../components/link.tsx';
import { Fault } from '../../components/problem.tsx';
import { useTask } from '../../shared/requests.ts';
import { useStore } from '../../shared/store.ts';
import { fieldPlaces } from './sections.ts';
import { changes, discardAll, isOvertaken, problems, type StoredSettings, saveChanges } from './settings-state.ts';

/** The bar. */
export function ChangeBar({ stored }: { readonly stored: StoredSettings }) {
  const unsaved = useStore(changes);
  const told = useStore(problems);
  const { problem, isBusy, run } = useTask();
  const [saved, setSaved] = useState<{ readonly text: string; readonly warnings: readonly string[] } | null>(null);
  const names = Object.keys(unsaved);
  const overtaken = names.filter((name) => {
    const each = unsaved[name];
    return each !== undefined && isOvertaken(stored, name, each);
  });
  const save = (): void => {
    setSaved(null);
    void run(async () => {
      const result = await saveChanges();
      if (result.kind !== 'saved') return;
      setSaved({ text: `${countOf(result.count)} saved. In use from the next request on.`, warnings: result.warnings });
    });
  };
  const wrong = Object.keys(told).filter((name) => name !== '');
  return (
    <footer className="change-bar">
      <div role="status">
        {saved !== null && names.length === 0 && (
          <div className={saved.warnings.length > 0 ? 'notice warning' : 'notice good'}>
            <p>{saved.text}</p>
            {saved.warnings.map((warning) => (
              <p key={warning}>{warning}</p>
            ))}
          </div>
        )}
      </div>
      <Fault>{problem?.message}</Fault>
      {(told[''] ?? []).map((message) => (
        <Fault key={message}>{message}</Fault>
      ))}
      {wrong.length > 0 && (
        <p className="fault" role="alert">
          Nothing was saved. Correct <Places names={wrong} />
        </p>
      )}
      {overtaken.length > 0 && (
        <p className="fault" role="alert">
          Somebody else saved meanwhile. Choose whose value stays: <Places names={overtaken} />
        </p>
      )}
      {names.length > 0 && (
        <div className="spread">
          <p>
            <strong>{countOf(names.length)}:</strong> <Places names={names} />
          </p>
          <div className="row">
            <button type="button" disabled={isBusy} onClick={discardAll}>
              Discard
            </button>
            <button type="button" className="primary" disabled={isBusy || overtaken.length > 0} onClick={save}>
              Save
            </button>
          </div>
        </div>
      )}
    </footer>
  );
}

function countOf(count: number): string {
  return count === 1 ? '1 change' : `${count} changes`;
}

/** Links to fields. */
function Places({ names }: { readonly names: readonly string[] }) {
  return names.map((name, index) => {
    const place = fieldPlaces.get(name);
    return (
      <span key={name}>
        {index > 0 && ', '}
        {place === undefined ? (
          <code>{name}</code>
        ) : (
          <Link to={`settings/${place.section.path}?field=${name}`}>{place.field.label}</Link>
        )}
      </span>
    );
  });
}
