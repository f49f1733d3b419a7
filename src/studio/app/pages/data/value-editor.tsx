/** A field of a row's form, by the type of its column. */
import { lazy, type ReactNode, Suspense, useId, useLayoutEffect, useRef } from 'react';
import { Moment } from '../../components/moment.tsx';
import { Fault } from '../../components/problem.tsx';
import type { RoleTable, TableColumn } from '../../shared/role-schema.ts';
import { isNumber, typeName } from './cell.tsx';
import { choicesOf, type FieldText, faultOf, isJsonField } from './field-text.ts';
import { isRequired } from './lacks.ts';

interface ValueEditorProps {
  readonly table: RoleTable;
  readonly column: TableColumn;
  /** Undefined: nothing is given, and an insert takes the default. */
  readonly text: FieldText | undefined;
  readonly onChange: (text: FieldText | undefined) => void;
  readonly isReadOnly: boolean;
  readonly isChanged: boolean;
  /** Of a new row. */
  readonly isNew: boolean;
  /** It was about to be sent without a value, and needs one. */
  readonly isMissing: boolean;
  /** The keyboard is taken for each other value; null: not. */
  readonly focus: object | null;
  /** What finds a value, beside the field. */
  readonly finder?: ReactNode;
}

/** Loaded with the first JSON value. */
const JsonEditor = lazy(async () => ({ default: (await import('./json-editor.tsx')).JsonEditor }));

/** The field. */
export function ValueEditor(props: ValueEditorProps) {
  const { table, column, text, onChange, isReadOnly, isChanged, isNew, isMissing, focus, finder } = props;
  const id = useId();
  const field = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the keyboard is given
  useLayoutEffect(() => {
    if (focus === null) return;
    // Nobody knows a key by heart.
    const search = isNew && text === undefined ? field.current?.querySelector<HTMLElement>('[role="combobox"]') : null;
    if (search) search.focus();
    else focusEnd(field.current);
  }, [focus]);
  const { name, type, isKey, hasDefault, description } = column;
  const isNullable = !type.endsWith('!');
  const fault = text === undefined ? null : faultOf(text, type);
  // What is required is only left out where a related row can bring it.
  const canBeUnset = isNew && (Boolean(finder) || !isRequired(column));
  const hint = hasDefault ? 'default' : isNullable ? 'null' : '';
  const empties = isReadOnly
    ? []
    : [...(canBeUnset && text !== undefined ? ['unset'] : []), ...(isNullable && text !== null ? ['null'] : [])];
  return (
    <div ref={field} className="field" data-changed={isChanged} data-missing={isMissing} data-column={name}>
      <div className="spread">
        <span className="row">
          <label id={`${id}-label`} htmlFor={id} title={description ?? undefined}>
            {name}
          </label>
          <small className="soft">{type.replaceAll('!', '')}</small>
          {isKey && <span className="badge">key</span>}
          {isNew && isRequired(column) && <span className="badge">required</span>}
        </span>
        <span className="row">
          {empties.includes('unset') && (
            <button type="button" className="quiet mini" onClick={() => onChange(undefined)}>
              {hasDefault ? 'Use default' : 'Leave out'} <span className="visually-hidden">of {name}</span>
            </button>
          )}
          {empties.includes('null') && (
            <button type="button" className="quiet mini" onClick={() => onChange(null)}>
              Null <span className="visually-hidden">for {name}</span>
            </button>
          )}
        </span>
      </div>
      <div className={finder && !isReadOnly ? 'found-value' : undefined}>
        <Input
          id={id}
          {...{ table, column, text, onChange, isReadOnly }}
          placeholder={text === null ? 'null' : hint}
          isFocused={focus !== null}
          marks={{
            'aria-required': isNew && isRequired(column) ? true : undefined,
            'aria-invalid': isMissing || fault !== null ? true : undefined,
          }}
        />
        {!isReadOnly && finder}
      </div>
      {typeName(type) === 'Datetime' && !type.startsWith('[') && text && (
        <span className="soft small">
          <Moment at={text} />
        </span>
      )}
      <Fault>{fault ?? (isMissing ? `${name} is required.` : null)}</Fault>
    </div>
  );
}

/** Puts the caret behind what is there. An editor that is still loading takes the keyboard by itself. */
function focusEnd(field: HTMLElement | null): void {
  const input = field?.querySelector<HTMLElement>('input, textarea, select, .cm-content');
  input?.focus();
  if (input instanceof HTMLInputElement || input instanceof HTMLTextAreaElement)
    input.setSelectionRange(input.value.length, input.value.length);
}

interface InputProps extends Pick<ValueEditorProps, 'table' | 'column' | 'text' | 'onChange' | 'isReadOnly'> {
  readonly id: string;
  readonly placeholder: string;
  readonly isFocused: boolean;
  /** What it says of itself to screen readers. */
  readonly marks: Readonly<Record<string, true | undefined>>;
}

function Input({ id, table, column: { type }, text, onChange, isReadOnly, placeholder, isFocused, marks }: InputProps) {
  const choices = choicesOf(table, type);
  if (choices !== null) {
    return (
      <select
        {...marks}
        id={id}
        value={text ?? ''}
        disabled={isReadOnly}
        onChange={({ target }) => onChange(target.value)}
      >
        {(text ?? '') === '' && <option value="">{placeholder}</option>}
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    );
  }
  if (typeName(type) === 'JSON' && !type.startsWith('[')) {
    return (
      <Suspense fallback={<div className="code-editor" />}>
        <JsonEditor
          text={text ?? ''}
          labelledBy={`${id}-label`}
          {...{ onChange, isReadOnly, isFocused, placeholder }}
        />
      </Suspense>
    );
  }
  const common = {
    ...marks,
    id,
    value: text ?? '',
    placeholder,
    readOnly: isReadOnly,
    spellCheck: false,
    autoComplete: 'off',
    onChange: ({ target }: { readonly target: { readonly value: string } }) => onChange(target.value),
  };
  if (isNumber(type)) return <input {...common} inputMode="decimal" />;
  if (isJsonField(type) || typeName(type) === 'String') {
    const lines = Math.max((text ?? '').split('\n').length, Math.ceil((text ?? '').length / 48));
    return (
      <textarea
        {...common}
        className={isJsonField(type) ? undefined : 'prose'}
        rows={Math.min(12, Math.max(1, lines))}
      />
    );
  }
  return <input {...common} />;
}
