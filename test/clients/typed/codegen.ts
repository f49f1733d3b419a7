/** graphql-codegen with its client preset, as typed.nightly.test.ts runs it beside what it generates. */
import { GraphQLClient } from 'graphql-request';
import { graphql } from './__generated__/gql.ts';
import { check, encode, endpoint, headers, type Scalars } from './mode.ts';

const write = graphql(`
  mutation Write($object: ItemInsertInput!) {
    insertItem(object: $object) { id price data }
  }
`);
const read = graphql(`
  query Read($atLeast: BigFloat!, $has: JSON!) {
    itemCollection(filter: { price: { gte: $atLeast }, data: { contains: $has } }) {
      nodes { id price data listed seen code span }
      aggregate { sum { price } max { id } }
      groups(by: [{ column: listed }]) { key { listed } sum { price } max { id } }
    }
  }
`);

const client = new GraphQLClient(endpoint, { headers });
const object = { id: '9007199254740993', price: '0.10', data: encode({ tags: ['a'] }), listed: '2026-05-01' };
const { insertItem } = await client.request(write, { object });
const { itemCollection } = await client.request(read, { atLeast: '0.10', has: encode({ tags: ['a'] }) });
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
