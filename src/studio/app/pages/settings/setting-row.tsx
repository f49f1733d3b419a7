/** One field: label, name, help, control, where its value comes from, and what is wrong with it. */
import { useEffect, useId, useRef } from 'react';
import type { DescribedField } from '../../../../management/describe-fields.ts';
import { usePlace } from '../../shared/router.ts';
import { useMayWrite } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import type { SettingsField } from './sections.ts';
import { SettingControl } from './setting-control.tsx';
import {
  change,
  changes,
  isOvertaken,
  keepMine,
  problems,
  resetField,
  type SettingChange,
  type StoredSettings,
  shownValue,
} from './settings-state.ts';

interface SettingRowProps {
  readonly setting: SettingsField;
  readonly stored: StoredSettings;
}

/** The row. */
export function SettingRow({ setting: { name, label, unit }, stored }: SettingRowProps) {
  const id = useId();
  const row = useRef<HTMLDivElement>(null);
  const draft = useStore(changes)[name];
  const told = useStore(problems)[name] ?? [];
  const mayWrite = useMayWrite() && !stored.isConfigOnly;
  const isWanted = usePlace().query.get('field') === name;
  useEffect(() => {
    if (isWanted) row.current?.scrollIntoView({ block: 'center' });
  }, [isWanted]);
  const field = stored.fields.get(name);
  if (field === undefined) return null;
  return (
    <div className="setting" ref={row} data-wanted={isWanted} data-changed={draft !== undefined}>
      <div>
        <label htmlFor={id}>{label}</label>
        <p id={`${id}-help`} className="soft small">
          {field.description} <code>{name}</code>
        </p>
      </div>
      <div className="stack">
        <SettingControl
          field={field}
          unit={unit}
          id={id}
          value={shownValue(stored, draft, name)}
          isChanged={draft !== undefined}
          isDisabled={!mayWrite}
          isWrong={told.length > 0}
          onChange={(value) => change(name, value)}
        />
        <Origin field={field} draft={draft} mayWrite={mayWrite} />
        {told.map((message) => (
          <p key={message} className="fault small" role="alert">
            {message}
          </p>
        ))}
        {draft !== undefined && isOvertaken(stored, name, draft) && (
          <Overtaken field={field} stored={stored} draft={draft} />
        )}
      </div>
    </div>
  );
}

const origins = {
  default: 'Default',
  start: 'From the file, the environment or a flag',
  stored: 'Stored in the database',
} as const;

interface OriginProps {
  readonly field: DescribedField;
  readonly draft: SettingChange | undefined;
  readonly mayWrite: boolean;
}

function Origin({ field, draft, mayWrite }: OriginProps) {
  const { origin, name } = field;
  const isReset = draft?.value === null;
  const canReset = mayWrite && !isReset && (draft !== undefined || origin === 'stored');
  return (
    <p className="origin row small">
      {draft === undefined ? (
        <span className="soft">{origins[origin]}</span>
      ) : (
        <span className="badge changed">Not saved</span>
      )}
      {canReset && origin === 'stored' && (
        <button type="button" className="quiet small" onClick={() => resetField(field)}>
          Reset to {sayInitial(field)} <span className="visually-hidden">{name}</span>
        </button>
      )}
      {draft !== undefined && (
        <button type="button" className="quiet small" onClick={() => change(name, undefined)}>
          Undo <span className="visually-hidden">{name}</span>
        </button>
      )}
    </p>
  );
}

function sayInitial({ isSecret, initial, type }: DescribedField): string {
  if (isSecret) return initial ? 'the start value' : 'none';
  return sayValue(initial, type === 'boolean');
}

/** A value in a sentence. */
export function sayValue(value: unknown, isSwitch = typeof value === 'boolean'): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (isSwitch) return value === true ? 'on' : 'off';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.length > 60 ? `${text.slice(0, 60)} …` : text;
}

interface OvertakenProps {
  readonly field: DescribedField;
  readonly stored: StoredSettings;
  readonly draft: SettingChange;
}

/** Somebody else saved meanwhile: both values, and the choice. */
function Overtaken({ field: { name, isSecret }, stored, draft }: OvertakenProps) {
  const theirs = isSecret ? 'another secret' : sayValue(stored.values[name]);
  const mine = isSecret ? 'the one that you typed' : sayValue(shownValue(stored, draft, name));
  return (
    <div className="notice warning stack small" role="alert">
      <p>
        Somebody else saved this field. Theirs: <strong>{theirs}</strong>. Yours: <strong>{mine}</strong>.
      </p>
      <p className="row">
        <button type="button" onClick={() => change(name, undefined)}>
          Use theirs <span className="visually-hidden">{name}</span>
        </button>
        <button type="button" onClick={() => keepMine(name)}>
          Keep mine <span className="visually-hidden">{name}</span>
        </button>
      </p>
    </div>
  );
}
