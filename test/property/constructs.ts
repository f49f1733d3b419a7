/**
 * Names the constructs of a generated operation, so that a test can see that each is made often enough to be proven.
 */
import { type FieldNode, Kind, parse, visit } from 'graphql';
import { type Input, listOf, readDocument } from './document.ts';
import { decodeArray } from './encoded.ts';
import type { ExpectedModel } from './expected-model.ts';
import type { Operation } from './generate-query.ts';
import { aggregateFunctions } from './types.ts';

type Entries = ReadonlyMap<string, Input>;

const quantifiers: ReadonlySet<string> = new Set(['some', 'every', 'none']);
const computations: ReadonlySet<string> = new Set([...aggregateFunctions, 'distinctCount']);
const searches: ReadonlySet<string> = new Set(['websearch', 'plain', 'phrase', 'query']);

/** What the operation holds, each by its name. */
export function constructsOf({ query, variables }: Operation, model: ExpectedModel): ReadonlySet<string> {
  const found = new Set<string>();
  const document = readDocument(query, variables);
  const linked = new Set(
    [...model.entities.values()].flatMap(({ fields }) =>
      [...fields].flatMap(([name, field]) => (field.kind === 'to-many' && field.far !== null ? [name] : [])),
    ),
  );
  const functions = new Set([...model.entities.values()].flatMap(({ orderFunctions }) => [...orderFunctions.keys()]));
  const contents = new Set(
    [...model.entities.values()].flatMap(({ json, searches, columns }) =>
      [...json.keys(), ...searches.keys()].filter((name) => !columns.has(name)),
    ),
  );
  const calls = new Set(
    [...model.entities.values()].flatMap(({ filterCalls, orderCalls }) => [
      ...filterCalls.keys(),
      ...orderCalls.keys(),
    ]),
  );
  const enumLists = [...model.entities.values()].flatMap(({ filters }) =>
    [...filters].flatMap(([name, { type }]) => (type.isList && type.labels !== null ? [name] : [])),
  );
  const isMutation = query.startsWith('mutation');
  visit(parse(query), {
    [Kind.FIELD](node: FieldNode) {
      const name = node.name.value;
      if (linked.has(name)) found.add(isMutation ? 'links below a written row' : 'links');
      if (name.endsWith('Rank') && (node.arguments ?? []).length > 0) found.add('a rank');
      if (calls.has(name) && (node.arguments ?? []).length > 0) found.add('a field with an argument');
      if (name === 'groups' || name === 'distinctCount' || name === 'nodes') found.add(name);
      for (const { name: argument } of node.arguments ?? []) {
        const input = document.argument({ key: '', name, nodes: [node] }, argument.value);
        if (input === null || input === undefined) continue;
        const text = JSON.stringify(input, (_, value) => (value instanceof Map ? Object.fromEntries(value) : value));
        if (
          ['filter', 'orderBy'].includes(argument.value) &&
          [...functions].some((each) => text?.includes(`"${each}":`))
        )
          found.add(`${argument.value} by a function`);
        if (['filter', 'orderBy'].includes(argument.value) && [...calls].some((each) => text?.includes(`"${each}":{`)))
          found.add(`${argument.value} by a call`);
        if (argument.value === 'filter' && /"listed\w*":\{"\w+":\[/i.test(text ?? ''))
          found.add('filter by a call with a list');
        if (text?.includes('klingon')) found.add('an unknown configuration');
        if (argument.value === 'filter' && [...contents].some((each) => text?.includes(`"${each}":{`)))
          found.add('filter by the content of a function');
        if (argument.value === 'filter' && enumLists.some((each) => text?.includes(`"${each}":{"`)))
          found.add('filter by a list of an enum');
        if (argument.value === 'at') found.add(`a part of JSON${contents.has(name) ? ' of a function' : ''}`);
        if (name === 'totalCount') found.add('totalCount atMost');
        if (name === 'count') found.add('count of a column');
        if (argument.value === 'distinctOn') {
          const others = (node.arguments ?? []).map((other) => other.name.value);
          if (others.includes('after') || others.includes('before')) found.add('distinctOn behind a cursor');
          const order = document.argument({ key: '', name, nodes: [node] }, 'orderBy');
          if (
            listOf(order).some(
              (element) => element instanceof Map && [...element.values()].some((value) => value instanceof Map),
            )
          )
            found.add('distinctOn beside an order by related rows');
        }
        readArgument(found, linked, `${name === 'groups' ? 'groups ' : ''}${argument.value}`, input);
      }
    },
  });
  return found;
}

function readArgument(found: Set<string>, linked: ReadonlySet<string>, name: string, input: Input): void {
  found.add(name);
  if (name === 'filter' || name === 'groups having') readFilter(found, linked, input, 0);
  if (name === 'orderBy') for (const element of listOf(input)) readOrder(found, linked, element, 0);
  if (name === 'groups orderBy') for (const element of listOf(input)) readOrder(new Set(), linked, element, 0);
  if (name === 'groups by') {
    for (const element of listOf(input))
      for (const [entry, value] of element as Entries)
        if (value !== null) found.add(value instanceof Map ? 'groups by a related row' : `groups by ${entry}`);
  }
  if (name !== 'after' && name !== 'before') return;
  try {
    if (decodeArray(input as string).includes(null)) found.add(`${name} a null`);
  } catch {
    found.add(`${name} no cursor`);
  }
}

/** @param depth How many of `some`, `every` and `none` stand around it. */
function readFilter(found: Set<string>, linked: ReadonlySet<string>, input: Input, depth: number): void {
  if (Array.isArray(input)) for (const item of input) readFilter(found, linked, item, depth);
  if (!(input instanceof Map)) return;
  for (const [name, value] of input as Entries) {
    if (value === null || value === undefined) continue;
    if (linked.has(name)) found.add('filter by links');
    if (name === 'aggregate') found.add(`filter by aggregate, ${depth} deep`);
    if (computations.has(name)) found.add(`filter by ${name}`);
    if (name === 'at') found.add('filter by a part of JSON');
    if (name.endsWith('Element')) found.add(`filter by ${name}`);
    if (['hasKey', 'hasAllKeys', 'hasAnyKey', 'matches'].includes(name)) found.add(`filter by ${name}`);
    if (searches.has(name)) found.add('filter by text search');
    if (searches.has(name) && /" | <-> /.test(String(value))) found.add('filter by a phrase in a search');
    if (name === 'not' && holdsBoth(value)) found.add('filter by related rows and a column in a not');
    if (quantifiers.has(name)) found.add(`filter by ${name}, ${depth + 1} deep`);
    readFilter(found, linked, value, quantifiers.has(name) ? depth + 1 : depth);
  }
}

/** Whether an `and` or `or` has related rows beside something else. */
function holdsBoth(input: Input): boolean {
  if (!(input instanceof Map)) return false;
  const joined = (input as Entries).get('and') ?? (input as Entries).get('or');
  const texts = listOf(joined).map((item) =>
    JSON.stringify(
      item instanceof Map ? [...item.values()].map((value) => value instanceof Map && [...value.keys()]) : null,
    ),
  );
  const isRelated = (text: string) => /"(some|every|none|aggregate)"/.test(text);
  return texts.some(isRelated) && !texts.every(isRelated);
}

/** @param passed How many relationships stand around it. */
function readOrder(found: Set<string>, linked: ReadonlySet<string>, input: Input, passed: number): void {
  if (!(input instanceof Map)) return;
  for (const [name, value] of input as Entries) {
    if (value === null || value === undefined) continue;
    if (linked.has(name)) found.add('order by links');
    if (!(value instanceof Map))
      found.add(`order by ${name === 'count' && passed > 0 ? 'count' : 'a column'}, ${passed} deep`);
    else if (computations.has(name)) found.add(`order by ${name}`);
    else if ([...(value as Entries).keys()].some((key) => searches.has(key))) found.add('order by rank');
    else readOrder(found, linked, value, passed + 1);
  }
}
