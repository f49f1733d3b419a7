/** What `pgreflect check` must do whatever the database: its fixes end findings, and nothing is too large to be checked whole. */
import { expect } from 'vitest';
import type { Finding } from '../../src/check/finding.ts';
import { createDatabase, fixture } from '../support/postgres.ts';
import { findings } from './check-findings.ts';

const keyOf = ({ check, object, message }: Finding) => `${check} ${object} ${message}`;

/** Lines that begin with `--` are choices. */
const toRun = (all: readonly Finding[]) => all.filter(({ fix }) => fix !== null && !/^(--|pgreflect)/.test(fix));

/**
 * Runs the fixes for a fixture until none is left: each ends its finding, and makes no other.
 *
 * @param first How those that are the first of their kind run: alone, so that it can be seen what each does, or at once. All others follow.
 */
export async function expectFixesEnd(name: string, first: 'alone' | 'together'): Promise<void> {
  const database = await createDatabase(fixture(name));
  const kindOf = ({ check, fix }: Finding) => `${check} ${fix!.split(' ', 2)}`;
  const tried = new Set<string>();
  let before = await findings(database);
  for (;;) {
    const left = toRun(before);
    const isFirst = (finding: Finding) => left.find((one) => kindOf(one) === kindOf(finding)) === finding;
    const kinds = left.filter((finding) => !tried.has(kindOf(finding)) && isFirst(finding));
    const chosen = first === 'alone' ? kinds.slice(0, 1) : kinds;
    const now = chosen.length === 0 ? left : chosen;
    if (now.length === 0) break;
    for (const finding of now) {
      tried.add(kindOf(finding));
      await database.query(finding.fix!);
    }
    const after = await findings(database);
    const known = new Set(before.map(keyOf));
    const made = after.filter((finding) => finding.severity !== 'note' && !known.has(keyOf(finding)));
    const statements = now.map(({ fix }) => fix).join('\n');
    expect(made, statements).toEqual([]);
    for (const finding of now) expect(after.map(keyOf), statements).not.toContain(keyOf(finding));
    before = after;
  }
  expect(tried.size).toBeGreaterThan(2);
}

/** Checks tables with 4 policies and 3 keys each, and functions that these call, which call each other. */
export async function expectCheckedWhole(tables: number, functions: number): Promise<void> {
  const database = await createDatabase(`
    create table kind (id int primary key);
    do $$ begin
      for f in 1..${functions} loop
        execute format('create function allowed_%s(note int) returns boolean language sql stable %s as $f$ select exists (select from public.kind where id = note) %s $f$',
          f, case f % 4 when 0 then 'security definer' when 2 then 'security definer set search_path = public' else '' end,
          case when f > 2 then format('and public.allowed_%s(note)', f - 2) else '' end);
      end loop;
      for i in 1..${tables} loop
        execute format('create table note_%s (id int primary key, a int references kind, b int references kind, c int references kind)', i);
        execute format('alter table note_%s enable row level security', i);
        execute format('create policy reads on note_%s for select using (allowed_%s(a))', i, 1 + i % ${functions});
        execute format('create policy adds on note_%s for insert with check (allowed_%s(b))', i, 1 + (i + 1) % ${functions});
        execute format('create policy changes on note_%s for update using (allowed_%s(c))', i, 1 + (i + 2) % ${functions});
        execute format('create policy removes on note_%s for delete using (allowed_%s(c))', i, 1 + (i + 3) % ${functions});
      end loop;
    end $$;
    grant all on all tables in schema public to anon, authenticated, service_role;
  `);
  const found = await findings(database);
  const count = (kind: string) => found.filter(({ check }) => check === kind).length;
  expect(count('not_checked')).toBe(0);
  expect([count('definer_callable'), count('definer_search_path'), count('foreign_key_unindexed')]).toEqual([
    functions / 2,
    functions / 4,
    3 * tables,
  ]);
}
