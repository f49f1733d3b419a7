/**
 * Small requests that would keep the one thread busy: they end at the limits, and others are answered meanwhile.
 */
import { describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const columns = Array.from({ length: 20 }, (_, at) => `c${at} text`).join(', ');
const tables = Array.from(
  { length: 100 },
  (_, at) => `create table thing_${at} (id int primary key, ${columns});`,
).join('\n');

const execution = await startExecution(
  await createDatabase(`
    comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
    ${tables}
    create table hub (id int primary key);
    ${Array.from({ length: 100 }, (_, at) => `alter table thing_${at} add hub int references hub;`).join('\n')}
    grant usage on schema public to anon;
    grant select, insert, update on all tables in schema public to anon;
  `),
  { maxResponseBytes: 4 * 1024 * 1024 },
);

const type = 'kind name ofType { kind name ofType { kind name ofType { kind name } } }';
const described = `fragment F on __Type {
  kind name fields { name args { name type { ${type} } } type { ${type} } } inputFields { name type { ${type} } }
}`;

function introspection(aliases: number, beside = ''): string {
  const types = Array.from({ length: aliases }, (_, at) => `t${at}: types { ...F }`).join(' ');
  return `{ __schema { ${types} } ${beside} } ${described}`;
}

const tooLarge = [{ extensions: { code: 'LIMIT_EXCEEDED', limit: 'max-response-bytes' } }];
const small = '{ thing1Collection { edges { node { id } } } }';

describe('An introspection', () => {
  test.each([
    ['alone', ''],
    ['beside a field with data', small.slice(1, -1)],
  ])('that is larger than an answer may be ends at the limit, %s', async (_, beside) => {
    expect((await execution.run('anon', introspection(1, beside))).errors).toBeUndefined();
    expect(await execution.run('anon', introspection(16, beside))).toMatchObject({ errors: tooLarge });
  });

  test('that is larger only by the names which it gives ends there, too', async () => {
    const long = 'n'.repeat(60_000);
    const { errors } = await execution.run('anon', `{ __schema { types { name fields { ${long}: name } } } }`);
    expect(errors).toMatchObject(tooLarge);
  });

  test('An introspection is made in slices, between which other requests are answered', async () => {
    await execution.data('anon', small);
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    await Promise.all([
      execution.run('anon', introspection(15)).then(note('introspection')),
      execution.run('anon', introspection(14)).then(note('introspection')),
      execution.data('anon', small).then(note('small')),
    ]);
    expect(order[0]).toBe('small');
  });
});

describe('The filter of a table that many others refer to', () => {
  const filtered = 'query ($f: HubFilter) { hubCollection(filter: $f) { edges { node { id } } } }';
  const many = (filter: object) => ({ or: Array.from({ length: 5000 }, () => filter) });
  const secondsFor = async (query: string, f: unknown) => {
    const before = process.cpuUsage();
    const { errors } = await execution.run('anon', query, { variables: { f } });
    const { user, system } = process.cpuUsage(before);
    return { seconds: (user + system) / 1e6, code: errors?.[0].extensions.code };
  };

  // All fields of the type for each object took four times as long as the objects do now, and more with each table.
  test('The filter of a table that many others refer to costs what is given, also where it does not fit', async () => {
    expect((await secondsFor(filtered, many({ id: { eq: 1 } }))).code).toBeUndefined();
    expect((await secondsFor(filtered, many({ not: { not: {} } }))).code).toBeUndefined();
    const wrong = await secondsFor(filtered, { or: [...many({ id: { eq: 1 } }).or, { nothing: 1 }] });
    expect(wrong.code).toBe('BAD_USER_INPUT');
    expect(wrong.seconds).toBeLessThan(1.5);
  });
});
