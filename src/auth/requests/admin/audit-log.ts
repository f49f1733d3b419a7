/** The audit log, page by page, newest first, for admins. */
import { type AnswerJson, from, listOf, record, serializerOf, text, uuid } from '../../../shared/schema.ts';
import type { Time } from '../../../shared/times.ts';
import { isUuid, nilUuid } from '../../../shared/uuid.ts';
import { knownTime } from '../../answers/answer-times.ts';
import { AuthError } from '../../model/auth-error.ts';
import type { Metadata } from '../../model/metadata.ts';
import type { AuthContext } from '../../steps/auth-context.ts';
import { type PageAnswer, paginationHeaders, parsePage, rowsBefore } from '../../steps/page.ts';

/** Scopes of a search, and the fields of an entry that each one searches. */
const scopes = {
  author: ['actor_username', 'actor_name'],
  action: ['action'],
  type: ['log_type'],
} as const;

const searched = `a.instance_id = '${nilUuid}' and ($1::text is null or exists (
    select from pg_catalog.unnest($2::text[]) as m (name) where a.payload ->> m.name ilike $1
  ))`;
/** What was done to the user, otherwise by the user; as in the index. */
const ofUser = `${searched} and coalesce(a.payload -> 'traits' ->> 'user_id', a.payload ->> 'actor_id') = $3`;
const countStatement = (condition: string) =>
  `select pg_catalog.count(*)::int4 as total from auth.audit_log_entries a where ${condition}`;
const pageStatement = (
  condition: string,
  [size, offset]: readonly [string, string],
) => `select a.id, a.payload, a.ip_address, (extract(epoch from a.created_at) * 1000)::float8 as created_at
  from auth.audit_log_entries a where ${condition}
  order by a.created_at desc, a.id limit ${size} offset ${offset}`;
const all = { count: countStatement(searched), page: pageStatement(searched, ['$3', '$4']) };
const own = { count: countStatement(ofUser), page: pageStatement(ofUser, ['$4', '$5']) };

interface AuditEntry {
  readonly id: string;
  readonly payload: Metadata;
  readonly created_at: Time;
  readonly ip_address: string;
}

const entrySerializer = serializerOf<AuditEntry>('AuthAuditEntry', {
  id: from(uuid, ({ id }) => id),
  payload: from(record(), ({ payload }) => payload),
  created_at: from(knownTime, (entry) => entry.created_at),
  ip_address: from(text, (entry) => entry.ip_address),
});

/** The answer. */
export const auditSchema = listOf(entrySerializer);

/** `GET /admin/audit`. */
export async function listAudit(
  { services, authUrl }: AuthContext,
  query: URLSearchParams,
): Promise<PageAnswer<readonly AnswerJson[]>> {
  const page = parsePage(query);
  const user = query.get('user');
  if (user && !isUuid(user)) throw new AuthError('validation_failed', 'user must be the id of a user');
  const statements = user ? own : all;
  const search = [...parseSearch(query.get('query')), ...(user ? [user.toLowerCase()] : [])];
  const [counted] = await services.database.query(statements.count, search);
  const rows = await services.database.query(statements.page, [...search, page.size, rowsBefore(page)]);
  return {
    body: rows.map((row) => entrySerializer.print(row as unknown as AuditEntry)),
    headers: paginationHeaders(`${authUrl}/admin/audit`, page, counted?.total as number),
  };
}

function parseSearch(text: string | null): readonly [pattern: string | null, fields: readonly string[]] {
  if (!text) return [null, []];
  const [scope = '', value = ''] = /^([^:]*):?(.*)$/s.exec(text)?.slice(1) ?? [];
  if (!Object.hasOwn(scopes, scope)) {
    throw new AuthError('validation_failed', `Invalid query scope: ${scope.slice(0, 100)}`);
  }
  return [`%${value}%`, scopes[scope as keyof typeof scopes]];
}
