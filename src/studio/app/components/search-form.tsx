/** The search above a list. */
import { onSubmit } from '../shared/requests.ts';

interface SearchFormProps {
  readonly label: string;
  readonly value: string;
  readonly onSearch: (wanted: string) => void;
}

/** Searches on submit. */
export function SearchForm({ label, value, onSearch }: SearchFormProps) {
  return (
    <search>
      <form onSubmit={onSubmit(({ wanted = '' }) => onSearch(wanted))}>
        <input name="wanted" type="search" aria-label={label} placeholder={label} defaultValue={value} key={value} />
      </form>
    </search>
  );
}
