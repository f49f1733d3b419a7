/** One page of users, the search, and links to other pages. */
import { Link } from '../../components/link.tsx';
import { Moment } from '../../components/moment.tsx';
import { Empty } from '../../components/problem.tsx';
import { SearchForm } from '../../components/search-form.tsx';
import { goTo } from '../../shared/router.ts';
import type { StudioUser, UserPage } from '../../shared/users.ts';
import { fullNameOf, nameOf, stateOf } from './describe-user.ts';
import { type ListPlace, placeOf } from './place-of.ts';

/** Users per page. */
export const pageSize = 50;

/** Number of the last page; an empty list has one. */
export function lastPage({ total }: Pick<UserPage, 'total'>): number {
  return Math.max(1, Math.ceil(total / pageSize));
}

interface UserListProps {
  readonly list: UserPage;
  readonly place: ListPlace;
  /** Id of the user shown beside it. */
  readonly chosen: string | null;
}

/** The list. */
export function UserList({ list: { users, total }, place, chosen }: UserListProps) {
  return (
    <section className="link-list users-list" aria-label="Users">
      <header>
        <SearchForm
          label="Search by email or name"
          value={place.filter}
          onSearch={(filter) => goTo(placeOf({ page: 1, filter }, null))}
        />
      </header>
      {users.length === 0 && (
        <Empty title={`No user matches “${place.filter}”`}>
          <Link className="button" to={placeOf({ page: 1, filter: '' }, null)}>
            Show all users
          </Link>
        </Empty>
      )}
      <ol>
        {users.map((user) => (
          <Entry key={user.id} user={user} place={place} isChosen={user.id === chosen} />
        ))}
      </ol>
      <Pager place={place} last={lastPage({ total })} />
    </section>
  );
}

interface EntryProps {
  readonly user: StudioUser;
  readonly place: ListPlace;
  readonly isChosen: boolean;
}

function Entry({ user, place, isChosen }: EntryProps) {
  const { title, isUsual } = stateOf(user);
  return (
    <li>
      <Link to={placeOf(place, user.id)} isCurrent={isChosen}>
        <strong>{nameOf(user)}</strong>
        <span className={isUsual ? 'badge on' : 'badge changed'}>{title}</span>
        <span className="soft small">
          {fullNameOf(user) ?? (
            <>
              Created <Moment at={user.created_at} isDay />
            </>
          )}
        </span>
      </Link>
    </li>
  );
}

function Pager({ place, last }: { readonly place: ListPlace; readonly last: number }) {
  if (last === 1 && place.page === 1) return null;
  const turn = (page: number) => () => goTo(placeOf({ ...place, page }, null));
  return (
    <nav className="spread" aria-label="Pagination">
      <button type="button" disabled={place.page === 1} onClick={turn(place.page - 1)}>
        Previous
      </button>
      <span className="small soft">
        Page {place.page} of {last}
      </span>
      <button type="button" disabled={place.page >= last} onClick={turn(place.page + 1)}>
        Next
      </button>
    </nav>
  );
}
