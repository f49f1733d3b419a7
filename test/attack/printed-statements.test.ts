/**
 * The SQL of the page Access does what the page says, whatever the creator of a schema put into names and conditions: a rewritten policy has the
 * condition that it had, and each statement changes its own table alone.
 */
import pg from 'pg';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { AccessOverview, AccessTable } from '../../src/management/access/access-schemas.ts';
import { formatCondition } from '../../src/studio/app/components/format-sql.ts';
import { ownRowsOnly, policyChanges } from '../../src/studio/app/pages/access/policy-changes.ts';
import { type DraftOf, draftChange, findGap } from '../../src/studio/app/pages/access/policy-draft.ts';
import { privilegeChange } from '../../src/studio/app/pages/access/privilege-changes.ts';
import { addToken, managedGateway, ref } from '../management/management.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

const names = [
  'a"b',
  'two\nlines; drop table canary; --',
  'cr\rx',
  '-- x',
  '$$',
  '/* c',
  '*/ drop table canary; --',
  '\u202ex',
  '\u2028',
  "it's",
  'é'.repeat(31),
  'public',
  'select',
  'false /* which rows? x */',
  'a.b, c',
  'lower (x',
  'U&',
  '\\',
];

const long = "and body <> 'a text that is long enough to make the formatter write the whole condition in lines'";

const conditions = [
  "body <> E'two\n   lines' and id > 4",
  `lower(body) <> 'please lower (x' ${long}`,
  `body = '(select\n x\n )' ${long}`,
  `body ~ '\\(a\\) -- $$' and body <> 'don''t  say  "this  (is) it"' ${long}`,
  `exists (select 1 from canary c where c.note = 'select ( x )' and c.note <> '/* not a comment' and c.note <> '-- ( nor this')`,
  `id - -1 > - 5 and (body || ' AND  ') like '%  OR  %' ${long}`,
];

let database: TestDatabase;

beforeAll(async () => {
  const tables = names.map((name) => {
    const table = quoted(`t${name}`);
    return `create table ${table} (id int primary key, user_id uuid, ${quoted(name)} text);
      alter table ${table} enable row level security;
      grant select, insert on ${table} to anon, authenticated;
      create policy ${quoted(name)} on ${table} for select using (true);
      create policy ${quoted(`w${name}`)} on ${table} to authenticated, anon using (${quoted(name)} <> 'a');
      create policy ${quoted(`l${name}`)} on ${table} for update to authenticated using (${quoted(name)} in (select note from canary) and ${quoted(name)} <> '${'x'.repeat(80)}');`;
  });
  const policies = conditions.map(
    (condition, index) => `create policy p${index} on note for select using (${condition})`,
  );
  database = await createAuthDatabase(`
    create table canary (id int primary key, note text);
    create table note (id int primary key, body text);
    alter table note enable row level security;
    ${[...tables, ...policies].join(';\n')}`);
});

async function readOverview(): Promise<AccessOverview> {
  const { call } = await managedGateway(database, await addToken(database, { scopes: ['project:operate'] }));
  return (await call({ path: `/v1/projects/${ref}/access` })).body;
}

interface State {
  /** Of each policy: table, command, kind, conditions. */
  readonly policies: ReadonlyMap<string, string>;
  readonly tables: ReadonlyMap<string, string>;
}

const policiesStatement = `select c.relname, p.polname, (p.polcmd, p.polpermissive, pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))::text as state
  from pg_policy p join pg_class c on c.oid = p.polrelid`;
const tablesStatement = `select c.relname, (c.relacl, c.relrowsecurity, (select array_agg((a.attname, a.attacl)) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0))::text as state
  from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`;

async function stateOf(client: pg.Client): Promise<State> {
  const policies = await client.query(policiesStatement);
  const tables = await client.query(tablesStatement);
  return {
    policies: new Map(policies.rows.map((row) => [JSON.stringify([row.relname, row.polname]), row.state])),
    tables: new Map(tables.rows.map((row) => [row.relname, row.state])),
  };
}

/** Runs the statements, looks, and undoes them. */
async function afterwards(client: pg.Client, sql: string) {
  const notices: unknown[] = [];
  const note = ({ message }: { readonly message?: string | undefined }) => notices.push(message);
  client.on('notice', note);
  await client.query('begin');
  try {
    await client.query(sql);
    return { ...(await stateOf(client)), notices };
  } finally {
    await client.query('rollback');
    client.off('notice', note);
  }
}

const changed = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) =>
  [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key));

test('each statement runs as it is, says no more than it does, and keeps to its table', async () => {
  const overview = await readOverview();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(() => client.end());
  const before = await stateOf(client);
  let statements = 0;
  const check = async (table: AccessTable, sql: string) => {
    statements += 1;
    const after = await afterwards(client, sql);
    const touched = changed(before.policies, after.policies).map((key) => (JSON.parse(key) as string[])[0]);
    expect([...touched, ...changed(before.tables, after.tables)].filter((name) => name !== table.name)).toEqual([]);
    expect(after.notices).toEqual([]);
    return after;
  };
  for (const table of overview.tables)
    for (const role of overview.roles) {
      const of: DraftOf = { overview, table, role, anon: 'anon', format: formatCondition, changes: [] };
      for (const action of ['select', 'insert'] as const) {
        const draft = draftChange(of, action).sql;
        expect(findGap(draft)?.start ?? null, draft).toBe(
          draft.includes('(false /*') ? draft.lastIndexOf('false /*') : null,
        );
        await check(table, draft);
        for (const change of ownRowsOnly(of, action) ?? []) await check(table, change.sql);
        const right = table.rights.find((each) => each.role === role.name)?.[action];
        const grant = right && privilegeChange(table, role, action, right, table.columns.slice(1));
        if (grant) await check(table, grant.sql);
      }
      for (const policy of table.policies)
        for (const { rewrite, own, drop } of policyChanges(of, policy)) {
          await check(table, drop.sql);
          if (own) await check(table, own.sql);
          const { policies } = await check(table, rewrite.sql);
          const was = before.policies.get(JSON.stringify([table.name, policy.name]));
          expect([...policies.values()].filter((state) => state === was).length, rewrite.sql).toBeGreaterThan(0);
          const made = [...policies].filter(([key]) => !before.policies.has(key));
          for (const [, state] of made) expect(state, rewrite.sql).toBe(was);
        }
    }
  expect(statements).toBeGreaterThan(900);
});

test('the names of new policies are as long as PostgreSQL keeps them, and differ', async () => {
  const overview = await readOverview();
  const roles = ['x', 'y'].map((letter) => letter.repeat(62));
  const [table] = overview.tables.filter(({ name }) => name === 'note');
  const [role] = overview.roles;
  const of: DraftOf = {
    overview,
    table: { ...table!, policies: [] },
    role: { ...role!, name: roles[0]! },
    anon: 'anon',
    changes: [],
  };
  const [first, second] = [draftChange(of, 'select'), draftChange(of, 'insert')];
  const third = draftChange({ ...of, changes: [first, second] }, 'delete');
  const made = [first, second, third].map(({ sql }) => /^create policy "(.*)" on/.exec(sql)?.[1] ?? '');
  for (const name of made) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(63);
});
