/** Relay, as typed.nightly.test.ts runs it beside what relay-compiler writes. */
import { commitMutation, Environment, fetchQuery, graphql, Network, RecordSource, Store } from 'relay-runtime';
import type { relayReadQuery } from './__generated__/relayReadQuery.graphql.ts';
import type { relayWriteMutation, relayWriteMutation$data } from './__generated__/relayWriteMutation.graphql.ts';
import { check, encode, endpoint, headers, type Scalars } from './mode.ts';

const environment = new Environment({
  store: new Store(new RecordSource()),
  network: Network.create(async ({ text }, variables) => {
    const body = JSON.stringify({ query: text, variables });
    const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
    return (await fetch(endpoint, init)).json();
  }),
  getDataID: (row) => (row.nodeId as string | undefined) ?? null,
});

const write = graphql`
  mutation relayWriteMutation($object: ItemInsertInput!) {
    insertItem(object: $object) { id price data }
  }
`;
const read = graphql`
  query relayReadQuery($atLeast: BigFloat!, $has: JSON!) {
    itemCollection(filter: { price: { gte: $atLeast }, data: { contains: $has } }) {
      nodes { id price data listed seen code span }
      aggregate { sum { price } max { id } }
      groups(by: [{ column: listed }]) { key { listed } sum { price } max { id } }
    }
  }
`;

const object = { id: '9007199254740993', price: '0.10', data: encode({ tags: ['a'] }), listed: '2026-05-01' };
const { insertItem } = await new Promise<relayWriteMutation$data>((onCompleted, onError) => {
  commitMutation<relayWriteMutation>(environment, { mutation: write, variables: { object }, onCompleted, onError });
});
const asked = { atLeast: '0.10', has: encode({ tags: ['a'] }) };
const answer = await fetchQuery<relayReadQuery>(environment, read, asked).toPromise();
if (!answer) throw new Error('no answer');
const { itemCollection } = answer;
const [node] = itemCollection.nodes;
const [group] = itemCollection.groups;
const { sum, max } = itemCollection.aggregate ?? {};
if (!insertItem || !node || !group?.sum || !sum || !max) throw new Error('a row is missing');

check<typeof insertItem.id, Scalars['BigInt']>('inserted id', insertItem.id);
check<typeof insertItem.data, Scalars['JSON']>('inserted data', insertItem.data);
check<typeof node.id, Scalars['BigInt']>('id', node.id);
check<typeof node.price, Scalars['BigFloat']>('price', node.price);
check<typeof node.data, Scalars['JSON']>('data', node.data);
check<NonNullable<typeof node.listed>, Scalars['Date']>('listed', node.listed);
check<NonNullable<typeof node.seen>, Scalars['Datetime']>('seen', node.seen);
check<NonNullable<typeof node.code>, Scalars['UUID']>('code', node.code);
check<typeof node.span, Scalars['Opaque']>('span', node.span);
check<NonNullable<typeof sum.price>, Scalars['BigFloat']>('sum', sum.price);
check<NonNullable<typeof max.id>, Scalars['BigInt']>('max', max.id);
check<NonNullable<typeof group.sum.price>, Scalars['BigFloat']>('sum of a group', group.sum.price);
