/** The Users page: a table of the accounts, and one of them beside it. */
import './users.css';
import { useMemo, useState } from 'react';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Link } from '../../components/link.tsx';
import { Moment } from '../../components/moment.tsx';
import { Empty, OperatorsOnly, Waiting } from '../../components/problem.tsx';
import { say } from '../../components/toasts.tsx';
import { useCommands } from '../../shared/commands.ts';
import { goTo, usePlace } from '../../shared/router.ts';
import { useMayOperate } from '../../shared/session.ts';
import type { StudioUser } from '../../shared/users.ts';
import { nameOf, providersOf } from './describe-user.ts';
import { CreateDialog, InviteDialog } from './new-user.tsx';
import { type ListPlace, placeOf, readListPlace, readTab, usualOrder } from './place-of.ts';
import { StateBadge } from './state-badge.tsx';
import { useUserList } from './use-user-list.ts';
import { useWidth } from './use-width.ts';
import { UserFilters } from './user-filters.tsx';
import { UserPanel } from './user-panel.tsx';

/** The page. */
export function UsersPage() {
  return useMayOperate() ? <Users /> : <OperatorsOnly />;
}

function Users() {
  const { segments, query } = usePlace();
  const place = readListPlace(query);
  const id = segments[1] ?? null;
  const list = useUserList(place, true);
  const [dialog, setDialog] = useState<'create' | 'invite' | null>(null);
  useCommands(useMemo(() => commands(setDialog), []));
  const done = (sentence: string, next: string | null): void => {
    say(sentence);
    setDialog(null);
    // Of a user who was deleted, nothing is left to be saved.
    if (next !== id) goTo(placeOf(place, next), { asks: next !== null });
    list.readAgain();
  };
  const isFiltered = placeOf({ ...place, order: usualOrder }, null) !== 'users';
  const { users, problem } = list;
  const isEmpty = users !== null && users.length === 0 && !list.isSearching;
  return (
    <>
      <header className="page-head">
        <div className="row">
          <h1>Users</h1>
          <span className="badge" role="status">
            {countText(list, place.search !== '')}
          </span>
        </div>
        <div className="row">
          <button type="button" onClick={() => setDialog('create')}>
            Create user
          </button>
          <button type="button" className="primary" onClick={() => setDialog('invite')}>
            Invite user
          </button>
        </div>
      </header>
      <div role="alert">
        {users !== null && problem !== null && problem.status !== 0 && (
          <p className="notice fault">The list is out of date: {problem.message}</p>
        )}
      </div>
      <div className="users" data-open={id !== null}>
        <section className="users-list" aria-label="Users">
          {(isFiltered || !isEmpty) && <UserFilters place={place} id={id} />}
          {users === null ? (
            <Waiting what="users" problem={problem} />
          ) : isEmpty && isFiltered ? (
            <Empty title={place.search === '' ? 'No user matches' : `No user matches “${place.search}”`}>
              <Link className="button" to={placeOf({ search: '', state: '', provider: '', order: usualOrder }, null)}>
                Show all users
              </Link>
            </Empty>
          ) : isEmpty ? (
            <Empty title="No users yet">
              <p>Users appear here when they sign up in your application, or when you invite them.</p>
            </Empty>
          ) : (
            <UserTable users={users} list={list} place={place} id={id} />
          )}
        </section>
        {id !== null && <UserPanel key={id} id={id} place={place} tab={readTab(query)} onDone={done} />}
      </div>
      {dialog === 'invite' && <InviteDialog onDone={done} onClose={() => setDialog(null)} />}
      {dialog === 'create' && <CreateDialog onDone={done} onClose={() => setDialog(null)} />}
    </>
  );
}

function commands(open: (dialog: 'create' | 'invite') => void) {
  return [
    { id: 'create user', title: 'Create user …', part: 'Users', run: () => open('create') },
    { id: 'invite user', title: 'Invite user …', part: 'Users', run: () => open('invite') },
  ];
}

function countText(
  { users, total, isEstimate, hasMore, isSearching }: ReturnType<typeof useUserList>,
  isSearch: boolean,
) {
  if (users === null) return 'Loading …';
  if (isSearching) return 'Searching …';
  const count = total === null || isSearch ? users.length : total;
  const shown = `${count.toLocaleString()}${total === null && hasMore ? '+' : ''}`;
  return `${isEstimate ? 'about ' : ''}${shown} ${count === 1 && !hasMore ? 'user' : 'users'}`;
}

interface UserTableProps {
  readonly users: readonly StudioUser[];
  readonly list: ReturnType<typeof useUserList>;
  readonly place: ListPlace;
  readonly id: string | null;
}

function UserTable({ users, list, place, id }: UserTableProps) {
  const width = useWidth();
  const [orderBy = '', direction] = place.order.split('.');
  const all = columnsOf(place);
  const isShort = width === 'narrow' || id !== null;
  const second = orderBy === 'last_sign_in_at' ? orderBy : 'created_at';
  const columns = all.filter(
    ({ name }) => !isShort || name === 'email' || name === 'state' || (width !== 'narrow' && name === second),
  );
  const onOrder = ({ name }: Column<StudioUser>): void => {
    const isSame = name === orderBy;
    const first = name === 'email' ? 'asc' : 'desc';
    const next = isSame ? (direction === 'asc' ? 'desc' : 'asc') : first;
    goTo(placeOf({ ...place, order: `${name}.${next}` }, id));
  };
  return (
    <DataTable
      label="Users"
      columns={columns}
      rows={users}
      keyOf={(user) => user.id}
      total={list.total}
      chosen={id}
      onOrder={onOrder}
      onOpen={(user) => goTo(placeOf(place, user.id))}
      isOpenedByClick
      {...(list.hasMore && { onEnd: list.readMore })}
    />
  );
}

function columnsOf(place: ListPlace): readonly Column<StudioUser>[] {
  const [by, direction] = place.order.split('.');
  const order = (name: string) => ({
    order: name === by ? (direction === 'asc' ? ('ascending' as const) : ('descending' as const)) : null,
  });
  return [
    {
      name: 'email',
      title: 'User',
      width: 280,
      isWide: true,
      isRowHeader: true,
      cell: (user) => (
        <Link to={placeOf(place, user.id)} tabIndex={-1} title={nameOf(user)}>
          {nameOf(user)}
        </Link>
      ),
      ...order('email'),
    },
    { name: 'state', title: 'State', width: 124, cell: (user) => <StateBadge user={user} /> },
    { name: 'providers', title: 'Providers', width: 150, cell: (user) => providersOf(user).join(', ') },
    {
      name: 'created_at',
      title: 'Created',
      width: 210,
      cell: (user) => <Moment at={user.created_at} />,
      ...order('created_at'),
    },
    {
      name: 'last_sign_in_at',
      title: 'Last sign-in',
      width: 210,
      cell: ({ last_sign_in_at: at }) => (at === undefined ? <span className="soft">never</span> : <Moment at={at} />),
      ...order('last_sign_in_at'),
    },
  ];
}
