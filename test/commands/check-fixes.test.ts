/** What the advice of `pgreflect check` does to a database that is in use: it changes what it says, and breaks nothing in silence. */
import { expect, test } from 'vitest';
import type { Finding } from '../../src/commands/check/finding.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { runCommand } from './run-command.ts';

async function findings(database: TestDatabase, ...args: string[]): Promise<readonly Finding[]> {
  const env = { DATABASE_URL: database.urlAs('authenticator', 'test') };
  const { out } = await runCommand(['check', '--format', 'json', ...args], { env });
  return (JSON.parse(out) as { findings: readonly Finding[] }).findings;
}

test('a foreign key and a policy that need one index are one finding', async () => {
  const database = await createDatabase(`
    create table member (tenant int, id uuid, primary key (tenant, id));
    create table person (id uuid primary key);
    create table loan (id int primary key, tenant int, member_id uuid references person, foreign key (tenant, member_id) references member);
    create table visit (id int, at date, member_id uuid) partition by range (at);
    create table visit_2024 partition of visit for values from ('2024-01-01') to ('2025-01-01');
    ${['loan', 'visit', 'visit_2024'].map((table) => `alter table ${table} enable row level security;`).join('\n')}
    create policy own on loan to anon using (member_id = (select current_setting('request.id'))::uuid);
    create policy of_tenant on loan to anon using (tenant = (select current_setting('request.tenant'))::int);
    create policy own on visit to anon using (member_id = (select current_setting('request.id'))::uuid);
    create policy own on visit_2024 to anon using (member_id = (select current_setting('request.id'))::uuid);
    grant select on person, member, loan, visit, visit_2024 to anon;
  `);
  const kinds = 'foreign_key_unindexed,policy_column_unindexed';
  const found = await findings(database, '--only', kinds);
  expect(found.map(({ fix }) => fix).toSorted()).toEqual([
    'create index on public.loan (member_id);',
    'create index on public.loan (tenant, member_id);',
    'create index on public.visit (member_id);',
  ]);
  const [ofMember] = found.filter(({ fix }) => fix === 'create index on public.loan (member_id);');
  expect(ofMember).toMatchObject({ check: 'foreign_key_unindexed', object: 'public.loan', severity: 'warning' });
  expect(ofMember?.message).toMatch(
    /^The foreign key "loan_member_id_fkey" of public\.loan .* The column member_id .* "own"/,
  );
  // Each kind is still found alone.
  for (const kind of kinds.split(',')) expect(await findings(database, '--only', kind)).not.toEqual([]);
  for (const { fix } of found) await database.query(fix!);
  expect(await findings(database, '--only', kinds)).toEqual([]);
});
