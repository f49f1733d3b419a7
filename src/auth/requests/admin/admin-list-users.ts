/** All users, page by page, for admins. */
import { loadSqlFile } from '../../../postgres/system/sql-file.ts';
import {
  type AnswerJson,
  about,
  flag,
  from,
  integer,
  listOf,
  optional,
  orNull,
  serializerOf,
  text,
} from '../../../shared/schema.ts';
import { nilUuid } from '../../../shared/uuid.ts';
import { userSerializer } from '../../answers/user-json.ts';
import { AuthError } from '../../model/auth-error.ts';
import type { User } from '../../model/user.ts';
import type { AuthContext } from '../../steps/auth-context.ts';
import { type Page, type PageAnswer, paginationHeaders, parsePage, rowsBefore } from '../../steps/page.ts';
import { type FoundPage, isSearch, searchUsers } from './admin-search-users.ts';

const condition = `u.instance_id = '${nilUuid}' and u.aud = $1
  and ($2::text is null or u.email like $2 or u.raw_user_meta_data ->> 'full_name' ilike $2)`;
const countStatement = `select pg_catalog.count(*)::int4 as total from auth.users u where ${condition}`;
const pageStatement = (direction: 'asc' | 'desc') => `${loadSqlFile('auth/user.sql')} where ${condition}
  order by u.created_at ${direction} nulls last, u.id limit $3 offset $4`;
const statements = { asc: pageStatement('asc'), desc: pageStatement('desc') };

interface Users {
  readonly users: readonly User[];
  readonly audience: string;
  /** Absent for a list with the parameters of Supabase Auth. */
  readonly found?: FoundPage;
}

/** The answer. */
export const userListSerializer = serializerOf<Users>('AuthUserList', {
  users: from(listOf(userSerializer), ({ users }) => users),
  aud: from(text, ({ audience }) => audience),
  next_cursor: from(about(optional(orNull(text)), 'Of a search: null at its end.'), ({ found }) => found?.nextCursor),
  total: from(
    about(
      optional(orNull(integer)),
      'Of a search by state and provider, on its first page; null if too many users would be examined.',
    ),
    ({ found }) => found?.total,
  ),
  is_total_estimated: from(about(optional(flag), 'True above 10,000 users.'), ({ found }) => found?.isEstimate),
});

/** `GET /admin/users`: as Supabase Auth answers it, or a search. */
export async function listUsers(context: AuthContext, query: URLSearchParams): Promise<PageAnswer<AnswerJson>> {
  const { services, audience, authUrl } = context;
  if (isSearch(query)) {
    const found = await searchUsers(context, query);
    return { body: userListSerializer.print({ users: found.users, audience, found }), headers: {} };
  }
  const page: Page = parsePage(query);
  const direction = parseSort(query.get('sort'));
  const filter = query.get('filter');
  const pattern = filter ? `%${filter}%` : null;
  const [counted] = await services.database.query(countStatement, [audience, pattern]);
  const rows = await services.database.query(statements[direction], [audience, pattern, page.size, rowsBefore(page)]);
  return {
    body: userListSerializer.print({ users: rows as unknown as User[], audience }),
    headers: paginationHeaders(`${authUrl}/admin/users`, page, counted?.total as number),
  };
}

/** `created_at`, optionally followed by a blank and a direction. */
function parseSort(text: string | null): 'asc' | 'desc' {
  if (!text) return 'desc';
  const [column, direction = 'desc'] = text
    .trim()
    .toLowerCase()
    .split(/[\s+]+/);
  if (column !== 'created_at' || (direction !== 'asc' && direction !== 'desc')) {
    throw new AuthError(
      'validation_failed',
      'Bad Sort Parameters: only created_at asc and created_at desc are possible',
    );
  }
  return direction;
}
