/** Schema files of `pgreflect start` that cannot be loaded, are gone, or have changed since; the usual ones: start.test.ts. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand, temporaryDirectory } from './run-command.ts';
import { addressesIn, runPsql, start } from './start-project.ts';

test('a schema file is loaded once: one that the gateway cannot stand beside is refused, one that is gone deletes nothing, and what differs is said', async () => {
  const directory = temporaryDirectory();
  const write = (sql: string) => writeFileSync(join(directory, 'pets.sql'), sql);
  const file = ['--schema-file', 'pets.sql'];
  const pets = (fields: string) => `{ petCollection { edges { node { ${fields} } } } }`;
  const rows = (...nodes: object[]) => ({ data: { petCollection: { edges: nodes.map((node) => ({ node })) } } });

  // A dump of a whole database has the schemas of the gateway.
  write('create schema auth;');
  const whole = await runCommand(['start', '--port', '0', ...file], { directory });
  expect(whole.err).toContain('schema "auth" already exists');
  expect(whole.err).toContain('pg_dump --exclude-schema auth');

  const create = 'create table public.pet (id int primary key);';
  write(`${create}\ninsert into public.pet values (1);\n`);
  const first = await start(directory, file);
  const addresses = addressesIn(first.command.text());
  expect(await first.stop()).toBe(0);

  // Where the file is gone nothing is deleted.
  renameSync(join(directory, 'pets.sql'), join(directory, 'moved.sql'));
  const refused = await runCommand(['start', '--port', '0', '--reset'], { directory });
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringMatching(/"pets.sql" cannot be read[\s\S]*Nothing was deleted/),
  ]);

  // An edited file is not loaded again: what differs is said, and what to do.
  write(
    `create table pet (id int primary key, name text);\ncreate table walk (id int primary key, first int references pet, second int references pet);
grant select on pet, walk to anon;\n`,
  );
  const edited = await start(directory, file);
  const [, psql = ''] = /^ {2}psql +(.*)/m.exec(edited.command.text()) ?? [];
  for (const said of [
    'pets.sql differs from what the database was filled with',
    `-${create}`,
    '+create table pet (id int primary key, name text);',
    `\n  ${psql}\n`,
    'pgreflect start --reset --schema-file pets.sql',
  ])
    expect(edited.command.text()).toContain(said);
  expect(addressesIn(edited.command.text())).toEqual(addresses);
  expect(await edited.ask(pets('id'))).toEqual(rows({ id: 1 }));
  runPsql(directory, `${psql} -c 'alter table pet add column age int'`);
  await expect.poll(() => edited.ask(pets('id age'))).toEqual(rows({ id: 1, age: null }));
  expect(await edited.stop()).toBe(0);
});
