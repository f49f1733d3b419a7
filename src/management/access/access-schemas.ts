/** What `GET /access` answers: tables, the rights of each role on them, policies and functions. */
import {
  about,
  flag,
  listOf,
  named,
  objectOf,
  oneOf,
  optional,
  orNull,
  text,
  type ValueOf,
} from '../../shared/schema.ts';

const right = named(
  'AccessRight',
  objectOf({
    rows: about(oneOf('all', 'some', 'none'), '`some`: those that policies allow.'),
    columns: optional(about(listOf(text), 'The only columns that it covers.')),
    grantees: optional(about(listOf(text), 'Who was granted it: the role, roles that it is a member of, or `public`.')),
    policies: optional(about(listOf(text), 'Names of the policies that decide.')),
    lacks: optional(
      about(
        oneOf('usage', 'grant', 'policy', 'user', 'view', 'key'),
        'Why there are no rows: no usage of the namespace, no privilege, no policy for the role while row security is on, policies that ask for a user while the role is that of visitors, a view that cannot be written, or no privilege to select the key, by which the API orders rows.',
      ),
    ),
  }),
);

const rightsOfRole = objectOf({
  role: text,
  isExempt: about(flag, 'Row security does not concern it: off, or the role bypasses it or owns the table.'),
  select: right,
  insert: right,
  update: right,
  delete: right,
});

const policy = objectOf({
  name: text,
  command: oneOf('all', 'select', 'insert', 'update', 'delete'),
  isPermissive: about(flag, 'Permissive policies add rows, restrictive ones take some away.'),
  roles: about(listOf(text), '`public`: all.'),
  using: orNull(
    about(
      text,
      'The condition of rows that are seen or changed; of a long one, 10,000 characters, or fewer where there are more than 500 policies.',
    ),
  ),
  check: orNull(about(text, 'The condition of new rows; null: as `using`.')),
});

const table = objectOf({
  schema: text,
  name: text,
  object: about(text, 'As SQL writes it.'),
  kind: oneOf('table', 'partitioned_table', 'view', 'materialized_view', 'foreign_table'),
  owner: text,
  columns: listOf(text),
  key: about(
    orNull(listOf(text)),
    'The columns by which the API orders rows; null: no key, so that the API leaves the table out.',
  ),
  uuidColumns: about(listOf(text), 'Those of the type `uuid`, which ids of users have.'),
  indexedColumns: about(listOf(text), 'Those that an index of all rows begins with.'),
  otherGrantees: about(
    listOf(text),
    'Roles beside those of the overview that have a grant and that row security concerns.',
  ),
  references: about(
    listOf(objectOf({ column: text, object: about(text, 'The other table, as SQL writes it.'), key: text })),
    'Foreign keys of one column, also to tables that are not exposed, and the column there.',
  ),
  rowSecurity: flag,
  isForced: about(flag, 'Row security concerns the owner, too.'),
  runsAs: about(
    orNull(oneOf('caller', 'owner')),
    'Of a view: whose rights count below it (`security_invoker`); null for tables.',
  ),
  ownerBypasses: about(flag, 'Row security does not concern the owner.'),
  rights: listOf(rightsOfRole),
  policies: listOf(policy),
});

const routine = objectOf({
  object: about(text, 'With its arguments, as SQL writes it.'),
  owner: text,
  runsAs: about(oneOf('caller', 'owner'), '`owner`: `security definer`.'),
  roles: about(listOf(text), 'The roles that may call it.'),
});

/** The answer. */
export const accessOverview = named(
  'AccessOverview',
  objectOf({
    roles: listOf(objectOf({ name: text, object: about(text, 'As SQL writes it.'), bypassesRowSecurity: flag })),
    tables: listOf(table),
    functions: listOf(routine),
  }),
);

/** The answer. */
export type AccessOverview = ValueOf<typeof accessOverview>;
/** A table with its rights. */
export type AccessTable = AccessOverview['tables'][number];
/** What a role may do with a table in one way. */
export type AccessRight = ValueOf<typeof right>;
/** A policy. */
export type AccessPolicy = ValueOf<typeof policy>;
