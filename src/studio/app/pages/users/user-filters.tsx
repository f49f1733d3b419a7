/** What the list of users shows: the search, and menus for state and provider. */
import { Link } from '../../components/link.tsx';
import { RestedSearch } from '../../components/search-form.tsx';
import { goTo } from '../../shared/router.ts';
import { session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { stateTitles } from './describe-user.ts';
import { type ListPlace, placeOf, usualOrder } from './place-of.ts';

interface UserFiltersProps {
  readonly place: ListPlace;
  readonly id: string | null;
}

/** The filters. */
export function UserFilters({ place, id }: UserFiltersProps) {
  const now = useStore(session);
  const methods = now.kind === 'none' ? [] : now.project.signInMethods;
  const providers = [...new Set([...methods, ...(place.provider === '' ? [] : [place.provider])])].sort();
  const show = (change: Partial<ListPlace>) => goTo(placeOf({ ...place, ...change }, id), { replace: true });
  const isFiltered = place.search !== '' || place.state !== '' || place.provider !== '';
  return (
    <search className="user-filters">
      <RestedSearch
        label="Search users"
        placeholder="Search as you type: address, phone, name, ID"
        value={place.search}
        onSearch={(search) => show({ search })}
      />
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
