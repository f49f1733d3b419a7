/**
 * What the clients of a soak ask for, each with the one right answer.
 */
import type { Random } from '../property/random.ts';

/** One request, and the `data` of its answer. */
export interface SoakRequest {
  /** For the figures. */
  readonly kind: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
  readonly data: unknown;
}

/** Makes the next one. `serial` is never the same, `owner` is who asks. */
type MakeRequest = (random: Random, serial: number, owner: string) => SoakRequest;

const books = 5000;
const shelves = 100;
const book = (id: number) => ({ id, body: `book ${id}` });
const edges = (nodes: readonly unknown[]) => ({ edges: nodes.map((node) => ({ node })) });
const booksOf = (shelf: number, count: number) => Array.from({ length: count }, (_, index) => shelf + index * shelves);

/** Requests that are the same again and again but for their variables. */
const usual: readonly MakeRequest[] = [
  (random) => {
    const id = random.int(0, books - 1);
    const query = 'query ($id: Int!) { bookCollection(filter: {id: {eq: $id}}) { edges { node { id body } } } }';
    return { kind: 'a row', query, variables: { id }, data: { bookCollection: edges([book(id)]) } };
  },
  (random) => {
    const id = random.int(0, shelves - 1);
    const query = `query ($id: Int!) { bookCollection(first: 20, filter: {shelfId: {eq: $id}}, orderBy: [{id: AscNullsLast}])
      { edges { node { id body } } } }`;
    return { kind: 'a list', query, variables: { id }, data: { bookCollection: edges(booksOf(id, 20).map(book)) } };
  },
  (random) => {
    const first = random.int(1, 5);
    const query = `query ($n: Int!) { shelfCollection(first: $n, orderBy: [{id: AscNullsLast}]) { edges { node { name
      bookCollection(first: 5, orderBy: [{id: AscNullsLast}]) { edges { node { id } } } } } } }`;
    const nodes = Array.from({ length: first }, (_, shelf) => ({
      name: `shelf ${shelf}`,
      bookCollection: edges(booksOf(shelf, 5).map((id) => ({ id }))),
    }));
    return { kind: 'nested rows', query, variables: { n: first }, data: { shelfCollection: edges(nodes) } };
  },
  (random) => {
    const n = random.int(0, 1_000_000);
    return { kind: 'a function', query: 'query ($n: Int!) { twice(n: $n) }', variables: { n }, data: { twice: 2 * n } };
  },
  (random, _serial, owner) => {
    const value = random.int(0, 1_000_000);
    const query = `mutation ($value: Int!) { updateCounterCollection(set: {value: $value}, atMost: 1)
      { affectedCount records { owner value } } }`;
    const data = { updateCounterCollection: { affectedCount: 1, records: [{ owner, value }] } };
    return { kind: 'a write', query, variables: { value }, data };
  },
];

/** Requests that nobody has sent before. */
const never: readonly MakeRequest[] = [
  (_random, serial) => {
    const id = serial % books;
    const query = `{ bookCollection(filter: {id: {eq: ${id}}}) { edges { node { id body } } } } # ${serial}`;
    return { kind: 'a new document', query, data: { bookCollection: edges([book(id)]) } };
  },
  (_random, serial) => {
    const id = serial % books;
    const query = `query ($id: Int!) { a${serial}: bookCollection(filter: {id: {eq: $id}}) { edges { node { b${serial}: body } } } }`;
    const node = { [`b${serial}`]: `book ${id}` };
    return { kind: 'new aliases', query, variables: { id }, data: { [`a${serial}`]: edges([node]) } };
  },
  (_random, serial) => ({
    kind: 'a new name',
    query: `query q${serial} { twice(n: 21) }`,
    operationName: `q${serial}`,
    data: { twice: 42 },
  }),
  (random, serial) => {
    const id = serial % books;
    const query = 'query ($l: [BookFilter!]) { bookCollection(filter: {or: $l}) { edges { node { id body } } } }';
    const tests = ['eq', 'gte', 'lte'].filter(() => random.int(0, 1) === 1);
    const filter = { id: Object.fromEntries(['eq', ...tests].map((name) => [name, id])) };
    const l = Array.from({ length: 1 + (serial % 40) }, () => filter);
    return { kind: 'a new shape of variables', query, variables: { l }, data: { bookCollection: edges([book(id)]) } };
  },
];

/** Share of those that were never sent before. */
const newShare = 10;

/** The next request of a client. */
export function makeRequest(random: Random, serial: number, owner: string): SoakRequest {
  return random.pick(random.int(1, newShare) === 1 ? never : usual)(random, serial, owner);
}

/** One that takes longer than its client waits. */
export const longRequest: SoakRequest = { kind: 'left early', query: '{ nap(seconds: 30) }', data: { nap: 'slept' } };

/** How the table `book` is described. */
export function descriptionRequest(description: string): SoakRequest {
  return {
    kind: 'a description',
    query: '{ __type(name: "Book") { description } }',
    data: { __type: { description } },
  };
}
