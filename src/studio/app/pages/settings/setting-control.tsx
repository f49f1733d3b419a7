/** The control of a field by its type: switch, number, choice, list, secret, text. */
import { useState } from 'react';
import type { DescribedField } from '../../../../management/describe-fields.ts';

/** What a control shows and tells. */
interface ControlProps {
  readonly field: DescribedField;
  readonly unit: string | undefined;
  readonly id: string;
  readonly value: unknown;
  /** A typed secret, which `value` shows; otherwise it is the digest of the stored one. */
  readonly isChanged: boolean;
  readonly isDisabled: boolean;
  readonly isWrong: boolean;
  readonly onChange: (value: unknown) => void;
}

/** Texts of several lines. */
const longTexts = ['mailer_brand_footer', 'smtp_headers', 'sms_template', 'mfa_phone_template'];

/** The control. */
export function SettingControl(props: ControlProps) {
  const { field, value, onChange, unit } = props;
  const own = ownAttributes(props);
  if (field.isSecret) return <SecretControl {...props} />;
  if (field.type === 'boolean') {
    return (
      <label className="switch">
        <input
          {...own}
          type="checkbox"
          role="switch"
          aria-checked={value === true}
          checked={value === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
        <span aria-hidden="true">{value === true ? 'On' : 'Off'}</span>
      </label>
    );
  }
  if (field.options !== null) {
    return (
      <select {...own} value={asText(value)} onChange={({ currentTarget }) => onChange(currentTarget.value || null)}>
        {field.initial === null && <option value="">None</option>}
        {field.options.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    );
  }
  if (field.type === 'integer' || field.type === 'number') {
    return (
      <span className="with-unit">
        <input
          {...own}
          type="number"
          step={field.type === 'integer' ? 1 : 'any'}
          min={field.minimum ?? undefined}
          max={field.maximum ?? undefined}
          value={asText(value)}
          onChange={({ currentTarget: { value: typed } }) => onChange(typed === '' ? null : Number(typed))}
        />
        {unit !== undefined && <span className="soft small">{unit}</span>}
      </span>
    );
  }
  if (field.isList) return <ListControl {...props} />;
  const take = (typed: string): void => onChange(typed === '' && field.initial === null ? null : typed);
  if (longTexts.includes(field.name)) {
    const text = asText(value);
    const rows = Math.min(8, Math.max(2, text.split('\n').length));
    return <textarea {...own} rows={rows} value={text} onChange={({ currentTarget }) => take(currentTarget.value)} />;
  }
  return (
    <input
      {...own}
      type="text"
      autoComplete="off"
      spellCheck={false}
      value={asText(value)}
      onChange={({ currentTarget }) => take(currentTarget.value)}
    />
  );
}

function ownAttributes({ id, isDisabled, isWrong }: ControlProps) {
  return { id, disabled: isDisabled, 'aria-invalid': isWrong, 'aria-describedby': `${id}-help` };
}

function asText(value: unknown): string {
  return value === null || value === undefined ? '' : String(value);
}

/** One item a line; a comma begins a new one. Within braces and behind a backslash, it belongs to a pattern. */
function ListControl(props: ControlProps) {
  const { field, value, onChange } = props;
  const lines = asText(value).split(/(?<!\\),(?![^{]*\})/);
  const take = (items: readonly string[]): void => {
    const text = items.join(',');
    onChange(text === '' && field.initial === null ? null : text);
  };
  return (
    <textarea
      {...ownAttributes(props)}
      rows={Math.min(10, lines.length + 1)}
      placeholder="One per line, or separated by commas"
      spellCheck={false}
      value={lines.join('\n')}
      onChange={({ currentTarget }) => take(currentTarget.value.split('\n'))}
      onBlur={() => {
        const items = lines.map((line) => line.trim()).filter((line) => line !== '');
        if (items.join(',') !== asText(value)) take(items);
      }}
    />
  );
}

/** Says only that it is set. */
function SecretControl(props: ControlProps) {
  const { field, value, isChanged, isDisabled, onChange } = props;
  const [isTyping, setTyping] = useState(false);
  const isTyped = isChanged && typeof value === 'string' && value !== '' && value !== field.initial;
  if (isTyping || isTyped) {
    return (
      <span className="row">
        <input
          {...ownAttributes(props)}
          className="grow"
          type="password"
          autoComplete="new-password"
          placeholder="New value"
          value={isTyped ? asText(value) : ''}
          onChange={({ currentTarget: { value: typed } }) => {
            setTyping(true);
            onChange(typed === '' ? undefined : typed);
          }}
        />
        <button
          type="button"
          onClick={() => {
            setTyping(false);
            onChange(undefined);
          }}
        >
          Cancel
        </button>
      </span>
    );
  }
  const isSet = asText(value) !== '';
  return (
    <span className="row">
      <output id={props.id} className={isSet ? 'badge on' : 'badge'}>
        {isSet ? 'Set' : 'Not set'}
      </output>
      <button type="button" disabled={isDisabled} onClick={() => setTyping(true)}>
        {isSet ? 'Replace' : 'Set'} <span className="visually-hidden">{field.name}</span>
      </button>
      {isSet && (
        <button type="button" disabled={isDisabled} onClick={() => onChange(field.initial === null ? null : '')}>
          Clear <span className="visually-hidden">{field.name}</span>
        </button>
      )}
    </span>
  );
}
