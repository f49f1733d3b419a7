/** What the list of users shows: the search, and menus for state and provider. */
import { useEffect, useRef, useState } from 'react';
import { Link } from '../../components/link.tsx';
import { useAnswer } from '../../shared/requests.ts';
import { useRested } from '../../shared/rested.ts';
import { goTo } from '../../shared/router.ts';
import { readProviders } from '../../shared/users.ts';
import { stateTitles } from './describe-user.ts';
import { type ListPlace, placeOf, usualOrder } from './place-of.ts';

interface UserFiltersProps {
  readonly place: ListPlace;
  readonly id: string | null;
}

/** The filters. */
export function UserFilters({ place, id }: UserFiltersProps) {
  const { value } = useAnswer('providers', readProviders);
  const providers = [...new Set([...(value ?? []), ...(place.provider === '' ? [] : [place.provider])])].sort();
  const show = (change: Partial<ListPlace>) => goTo(placeOf({ ...place, ...change }, id), { replace: true });
  const isFiltered = place.search !== '' || place.state !== '' || place.provider !== '';
  return (
    <search className="user-filters">
      <SearchField search={place.search} onSearch={(search) => show({ search })} />
      <select aria-label="State" value={place.state} onChange={({ target }) => show({ state: target.value })}>
        <option value="">All states</option>
        {Object.entries(stateTitles).map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
      <select aria-label="Provider" value={place.provider} onChange={({ target }) => show({ provider: target.value })}>
        <option value="">All providers</option>
        {providers.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      {isFiltered && (
        <Link
          className="button quiet"
          to={placeOf({ search: '', state: '', provider: '', order: place.order || usualOrder }, id)}
        >
          Clear
        </Link>
      )}
    </search>
  );
}

interface SearchFieldProps {
  readonly search: string;
  readonly onSearch: (search: string) => void;
}

/** Searches while one types. */
function SearchField({ search, onSearch }: SearchFieldProps) {
  const [text, setText] = useState(search);
  const asked = useRef(search);
  // Somebody went back, or cleared the filters.
  useEffect(() => {
    if (search === asked.current) return;
    asked.current = search;
    setText(search);
  }, [search]);
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
      aria-label="Search users"
      placeholder="Search as you type: address, phone, name, ID"
      value={text}
      maxLength={255}
      spellCheck={false}
      onChange={({ target }) => setText(target.value)}
    />
  );
}
