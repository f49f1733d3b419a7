/** The search above a list: as one types, or by Enter. */
import { useEffect, useRef, useState } from 'react';
import { onSubmit } from '../shared/requests.ts';
import { useRested } from '../shared/rested.ts';

interface SearchFormProps {
  readonly label: string;
  readonly value: string;
  /** Enter was pressed. */
  readonly onSearch?: (wanted: string) => void;
  /** The text has changed; whoever gives it sets `value`. */
  readonly onType?: (wanted: string) => void;
}

/** The field. */
export function SearchForm({ label, value, onSearch = () => {}, onType }: SearchFormProps) {
  const text =
    onType === undefined
      ? { defaultValue: value }
      : { value, onChange: ({ target }: { readonly target: HTMLInputElement }) => onType(target.value) };
  return (
    <search>
      <form onSubmit={onSubmit(({ wanted = '' }) => onSearch(wanted))}>
        <input
          name="wanted"
          type="search"
          aria-label={label}
          placeholder={label}
          spellCheck={false}
          key={onType === undefined ? value : null}
          {...text}
        />
      </form>
    </search>
  );
}

interface RestedSearchProps {
  readonly label: string;
  readonly placeholder?: string;
  readonly value: string;
  /** Typing rests, without the spaces at the ends: for searches that ask the server. */
  readonly onSearch: (wanted: string) => void;
}

/** A field whose text is searched once typing rests. */
export function RestedSearch({ label, placeholder = label, value, onSearch }: RestedSearchProps) {
  const [text, setText] = useState(value);
  const asked = useRef(value);
  // Somebody went back, or cleared the filters.
  useEffect(() => {
    if (value === asked.current) return;
    asked.current = value;
    setText(value);
  }, [value]);
  const latest = useRef(onSearch);
  latest.current = onSearch;
  const wanted = useRested(text.trim());
  useEffect(() => {
    if (wanted === asked.current) return;
    asked.current = wanted;
    latest.current(wanted);
  }, [wanted]);
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={placeholder}
      value={text}
      maxLength={255}
      spellCheck={false}
      onChange={({ target }) => setText(target.value)}
    />
  );
}
