/** The search above a list: as one types, or by Enter. */
import { onSubmit } from '../shared/requests.ts';

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
