/** Deliveries and suppressed addresses, for operators: list, read, lift. docs/management-api.md says who may. */
import { emailKindNames } from '../../config/auth/email-kinds.ts';
import { deliveryStates } from '../../email/outbox/deliveries.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import {
  about,
  type Described,
  integer,
  integerBetween,
  named,
  objectOf,
  oneOf,
  optional,
  orNull,
  text,
  type ValueOf,
} from '../../shared/schema.ts';
import { isUuid } from '../../shared/uuid.ts';
import { ManagementError } from '../management-error.ts';

const time = about(text, { format: 'date-time' });
const uuid = about(text, { format: 'uuid' });

/** What a mail service tells later of an email that it took. */
const deliveryEvents = ['delivered', 'bounced', 'failed', 'complained'] as const;

/** A delivery. */
export const deliverySchema = named(
  'Delivery',
  objectOf({
    id: about(text, 'Larger for later emails.'),
    kind: oneOf(...emailKindNames),
    userId: about(orNull(uuid), 'Null: the test email of an operator.'),
    recipient: orNull(about(text, 'As mailer_deliveries_recipients says; null: not kept.')),
    locale: orNull(about(text, 'Language tag of the texts; null: the texts without a language.')),
    templateVersion: about(integer, 'Version of the configuration; 0: nothing is stored.'),
    state: oneOf(...deliveryStates),
    attempts: integer,
    answer: orNull(about(text, 'What the mail server or service said last.')),
    event: orNull(oneOf(...deliveryEvents)),
    createdAt: time,
    updatedAt: time,
    sentAt: orNull(time),
    nextAttemptAt: about(orNull(time), 'Null: no attempt follows.'),
  }),
);

/** A suppressed address. */
export const suppressedSchema = named(
  'SuppressedAddress',
  objectOf({
    id: about(text, 'Id for lifting it.'),
    recipient: orNull(about(text, 'As mailer_deliveries_recipients said; null: not kept.')),
    userId: orNull(uuid),
    reason: oneOf('bounced', 'complained'),
    createdAt: time,
    expiresAt: time,
  }),
);

/** Delivery status of an email. */
export type Delivery = ValueOf<typeof deliverySchema>;

/** A suppressed address. */
export type SuppressedAddress = ValueOf<typeof suppressedSchema>;

const maxPage = 200;
const defaultPage = 50;

const idPattern = /^\d{1,18}$/;
const suppressedPattern = /^[0-9a-f]{64}$/;

/** The id of a delivery in a path. */
export const deliveryId = about(text, { description: 'Id.', pattern: idPattern.source });

/** The id of a suppressed address in a path. */
export const suppressedId = about(text, { description: 'Id.', pattern: suppressedPattern.source });

/** An empty one lets everything pass. */
function filter(schema: Described, description: string): Described {
  return optional(about(schema, { description, allowEmptyValue: true }));
}

/** Filters by a user. */
export const userFilter = { user: filter(uuid, 'Only emails to this user.') };

/** Query parameters of the list. */
export const deliveryFilters = {
  state: filter(oneOf(...deliveryStates), 'Only this state.'),
  kind: filter(oneOf(...emailKindNames), 'Only this kind of email.'),
  ...userFilter,
  before: filter(
    about(text, { pattern: idPattern.source }),
    'Only emails before the one with this id: the last of the page before.',
  ),
  limit: filter(about(integerBetween(1, maxPage), { default: defaultPage }), 'Size of the page.'),
};

/** What to list; null: anything. */
interface DeliveryFilter {
  readonly state: string | null;
  readonly kind: string | null;
  readonly user: string | null;
  readonly before: string | null;
  readonly limit: number;
}

/** Checks the query of a list. @throws ManagementError `validation_failed` */
export function readDeliveryFilter(query: Readonly<Record<string, unknown>>): DeliveryFilter {
  const problems: string[] = [];
  const read = (name: string, isValid: (value: string) => boolean, rule: string): string | null => {
    const value = query[name];
    if (value === undefined || value === '') return null;
    if (typeof value === 'string' && isValid(value)) return value;
    problems.push(`${name} must be ${rule}`);
    return null;
  };
  const among = (words: readonly string[]) => (value: string) => words.includes(value);
  const filter = {
    state: read('state', among(deliveryStates), `one of ${deliveryStates.join(', ')}`),
    kind: read('kind', among(emailKindNames), `one of ${emailKindNames.join(', ')}`),
    user: read('user', isUuid, 'the id of a user'),
    before: read('before', (value) => idPattern.test(value), 'the id of a delivery'),
    limit: Number(read('limit', isPageSize, `a whole number from 1 to ${maxPage}`) ?? defaultPage),
  };
  if (problems.length > 0) throw new ManagementError('validation_failed', problems.join('; '));
  return filter;
}

function isPageSize(value: string): boolean {
  return /^\d{1,3}$/.test(value) && Number(value) >= 1 && Number(value) <= maxPage;
}

const deliveriesAndWaiting = 'pgreflect_queue.deliveries d left join pgreflect_queue.emails e on e.delivery_id = d.id';
const columns = `d.id::text as id, d.kind, d.user_id::text as "userId", d.recipient, d.locale,
  d.template_version::float8 as "templateVersion", d.state, d.attempts, d.answer, d.event,
  d.created_at as "createdAt", d.updated_at as "updatedAt", d.sent_at as "sentAt", e.due_at as "nextAttemptAt"`;

/** Newest first. */
export async function listDeliveries(database: Queryable, filter: DeliveryFilter): Promise<readonly Delivery[]> {
  const { state, kind, user, before, limit } = filter;
  const wanted: readonly (readonly [string, unknown])[] = [
    ['d.state = ', state],
    ['d.kind = ', kind],
    ['d.user_id = ', user],
    ['d.id < ', before],
  ];
  const given = wanted.filter(([, value]) => value !== null);
  const casts: Readonly<Record<string, string>> = { 'd.user_id = ': '::uuid', 'd.id < ': '::bigint' };
  const conditions = given.map(([condition], index) => `${condition}$${index + 2}${casts[condition] ?? ''}`);
  const rows = await database.query(
    `select ${columns} from ${deliveriesAndWaiting}
    where ${['true', ...conditions].join(' and ')} order by d.id desc limit $1::integer`,
    [limit, ...given.map(([, value]) => value)],
  );
  return rows.map(toListed);
}

/** One delivery. @throws ManagementError `not_found` */
export async function readDelivery(database: Queryable, id: string): Promise<Delivery> {
  const rows = idPattern.test(id)
    ? await database.query(`select ${columns} from ${deliveriesAndWaiting} where d.id = $1::bigint`, [id])
    : [];
  const [row] = rows;
  if (row === undefined) throw new ManagementError('not_found', 'There is no such delivery');
  return toListed(row);
}

function toListed(row: Record<string, unknown>): Delivery {
  const times = ['createdAt', 'updatedAt', 'sentAt', 'nextAttemptAt'].map((name) => [
    name,
    (row[name] as Date | null)?.toISOString() ?? null,
  ]);
  return { ...row, ...Object.fromEntries(times) } as Delivery;
}

const suppressedColumns = `pg_catalog.encode(s.recipient_hash, 'hex') as id, s.recipient, s.user_id::text as "userId", s.reason,
  s.created_at as "createdAt", s.expires_at as "expiresAt"`;

/** Those in force, newest first, as many as a page has. @param user Only the address of this user; null: all. */
export async function listSuppressed(
  database: Queryable,
  user: string | null,
  now: Date,
): Promise<readonly SuppressedAddress[]> {
  const rows = await database.query(
    `select ${suppressedColumns} from pgreflect_queue.suppressed s
    where s.expires_at > $1::timestamptz and ($2::uuid is null or s.user_id = $2::uuid)
    order by s.created_at desc, s.recipient_hash limit ${maxPage}`,
    [now, user],
  );
  return rows.map(toSuppressed);
}

/** Lets an address get emails again. @throws ManagementError `not_found` */
export async function liftSuppressed(database: Queryable, id: string): Promise<SuppressedAddress> {
  const rows = suppressedPattern.test(id)
    ? await database.query(
        `delete from pgreflect_queue.suppressed s where s.recipient_hash = pg_catalog.decode($1, 'hex')
        returning ${suppressedColumns}`,
        [id],
      )
    : [];
  const [row] = rows;
  if (row === undefined) throw new ManagementError('not_found', 'This address is not suppressed');
  return toSuppressed(row);
}

function toSuppressed(row: Record<string, unknown>): SuppressedAddress {
  const { createdAt, expiresAt } = row as Record<string, Date>;
  return { ...row, createdAt: createdAt?.toISOString(), expiresAt: expiresAt?.toISOString() } as SuppressedAddress;
}
