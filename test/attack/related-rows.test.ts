/**
 * A tenant filters and orders by related rows, to tell what is hidden from what is not there: a database whose hidden rows, columns and tables
 * are full answers as one that has none of them.
 */
import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const common = `
  create table owner (id int primary key, name text);
  create table pet (id int primary key, owner_id int, name text, weight int, born float8);
  comment on table pet is '@graphql({"aggregate": {"enabled": true}})';
  alter table pet add constraint pet_owner foreign key (owner_id) references owner;
  insert into owner values (1, 'Ana'), (2, 'Ben');
  insert into pet values (1, 1, 'Rex', 10, 1.5);
  grant select, update, delete on owner, pet to anon;
`;
const policies = `
  alter table pet enable row level security; create policy visible on pet to anon using (id < 100);
  alter table owner enable row level security; create policy visible on owner to anon using (id < 100);
`;
// A pattern that ends with a backslash is an error where it meets a text, and so is a sum that is too large.
const secrets = `
  alter table owner add pin text; revoke select on owner from anon; grant select (id, name) on owner to anon;
  create table vet (id int primary key, owner_id int references owner, note text);
  create table pet_collection (id int primary key, owner_id int references owner);
  grant select on owner, pet to service_role;
  insert into owner values (100, 'Zed', '1234');
  insert into pet values (101, 2, 'Tom', 2147483647, 1e308), (102, 2, 'a', 2147483647, 1e308), (103, 1, 'b', null, 'NaN'), (104, 100, 'c', 1, 1);
  insert into vet values (1, 1, 'ill'), (2, 2, null);
  insert into pet_collection values (1, 1);
`;
const inflected = `comment on schema public is '@graphql({"inflect_names": true})';`;
const hidden = await createDatabase(`${inflected} ${common} ${secrets} ${policies}`);
const absent = await createDatabase(`${inflected} ${common} ${policies}`);
const [full, empty] = [await startExecution(hidden, {}), await startExecution(absent, {})];

const owners = [
  ...['some', 'every', 'none'].flatMap((kind) => [
    `{petCollection: {${kind}: {}}}`,
    `{petCollection: {${kind}: {weight: {gt: 5}}}}`,
    `{petCollection: {${kind}: {name: {like: "a\\\\"}}}}`,
    `{petCollection: {${kind}: {name: {regex: "(a"}}}}`,
    `{petCollection: {${kind}: {owner: {name: {eq: "Zed"}}}}}`,
    `{not: {petCollection: {${kind}: {born: {is: NULL}}}}}`,
  ]),
  ...['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in'].flatMap((operator) =>
    [1, 2].map((count) => `{petCollection: {aggregate: {count: {${operator}: ${count}}}}}`),
  ),
  '{petCollection: {aggregate: {filter: {name: {like: "a\\\\"}}, count: {gte: 2}}}}',
  '{petCollection: {aggregate: {distinctCount: {name: {lt: 2}}}}}',
  '{petCollection: {aggregate: {sum: {weight: {gt: "10"}}}}}',
  '{petCollection: {aggregate: {sum: {born: {gt: "1.5"}}}}}',
  '{petCollection: {aggregate: {avg: {born: {is: NULL}}}}}',
  '{petCollection: {aggregate: {max: {name: {regex: "(a"}}}}}',
  '{petCollection: {aggregate: {min: {name: {gt: "R"}}}}}',
  // What the role may not select.
  '{pin: {eq: "1234"}}',
  '{petCollection: {some: {owner: {pin: {eq: "1234"}}}}}',
  '{petCollection: {aggregate: {max: {pin: {eq: "1234"}}}}}',
  '{vetCollection: {some: {}}}',
  '{vetCollection: {aggregate: {count: {gt: 0}}}}',
  '{petCollectionCollection: {none: {}}}',
  '{nodeId: {eq: "WyJwdWJsaWMiLCAidmV0IiwgMV0="}}',
  '{petCollection: {some: {nodeId: {eq: "WyJwdWJsaWMiLCAidmV0IiwgMV0="}}}}',
  '{petCollection: {some: {nodeId: {eq: "WyJwdWJsaWMiLCAicGV0IiwgMTAxXQ=="}}}}',
];

test.each(owners)('a filter tells nothing that is hidden: %s', async (filter) => {
  const operations = [
    `{ ownerCollection(filter: ${filter}) { pageInfo { hasNextPage } edges { node { id petCollection { edges { node { id } } } } } } }`,
    `{ petCollection(filter: {owner: ${filter}}) { aggregate { count } edges { node { id } } } }`,
    `mutation { updateOwnerCollection(set: {name: "Ana"}, filter: ${filter}, atMost: 0) { affectedCount } }`,
    `mutation { deleteFromPetCollection(filter: {owner: ${filter}}, atMost: 0) { affectedCount } }`,
  ];
  for (const operation of operations) {
    expect(await full.run('anon', operation)).toEqual(await empty.run('anon', operation));
  }
});

const orders = [
  ...['count', 'sum: {weight', 'max: {name', 'min: {born', 'avg: {born'].flatMap((by) => [
    `[{petCollection: {${by}: DescNullsFirst${by.includes('{') ? '}' : ''}}}]`,
    `[{petCollection: {${by}: AscNullsLast${by.includes('{') ? '}' : ''}}}, {name: DescNullsLast}]`,
  ]),
  // What the role may not select.
  '[{pin: AscNullsLast}]',
  '[{petCollection: {max: {pin: AscNullsLast}}}]',
  '[{vetCollection: {count: AscNullsLast}}]',
  '[{petCollectionCollection: {count: AscNullsLast}}]',
];

test.each(orders)('an order tells nothing that is hidden: %s', async (orderBy) => {
  const cursors = [
    [2, 1],
    ['Tom', 2],
    [null, 100],
  ].map((elements) => Buffer.from(JSON.stringify(elements)).toString('base64'));
  for (const page of ['', ', first: 1', ', last: 1', ...cursors.map((cursor) => `, after: "${cursor}"`)]) {
    const shown = '{ pageInfo { hasNextPage hasPreviousPage } edges { cursor node { id } } }';
    const operations = [
      `{ ownerCollection(orderBy: ${orderBy}${page}) ${shown} }`,
      `{ petCollection(orderBy: [{owner: {name: DescNullsFirst}}]${page}) ${shown} }`,
      `{ petCollection { edges { node { owner { petCollection(orderBy: [{owner: ${orderBy.slice(1, orderBy.indexOf('}, {') + 1 || -1)}}]${page}) ${shown} } } } } }`,
    ];
    for (const operation of operations) {
      const answer = await full.run('anon', operation);
      expect(answer).toEqual(await empty.run('anon', operation));
      // A refusal is of what the role does not have alone, so that the others prove something.
      if (!/after|pin|vet|CollectionCollection/.test(operation)) expect(answer.errors, operation).toBeUndefined();
    }
  }
});

test('a role that may see the rows finds them', async () => {
  const query = '{ ownerCollection(filter: {petCollection: {aggregate: {count: {eq: 2}}}}) { edges { node { id } } } }';
  const found = async (role: string) => (await full.data(role, query)).ownerCollection.edges;
  expect(await found('service_role')).toEqual([{ node: { id: 1 } }, { node: { id: 2 } }]);
  expect(await found('anon')).toEqual([]);
  expect((await full.data('anon', query.replace('2', '1'))).ownerCollection.edges).toEqual([{ node: { id: 1 } }]);
});
