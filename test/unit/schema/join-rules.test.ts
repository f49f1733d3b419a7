/**
 * Validation rules joined to one: whatever the document, the same mistakes are found, in the same order, as by graphql-js with the list.
 */
import { BREAK, type DocumentNode, GraphQLError, parse, specifiedRules, type ValidationRule, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { buildSchema } from '../../../src/schema/build-schema.ts';
import { joinRules } from '../../../src/schema/join-rules.ts';
import { createRandom } from '../../property/random.ts';
import { libraryModel } from '../../support/model-builder.ts';

const schema = buildSchema(libraryModel());

const sources = [
  `query A($n: Int = 1, $f: LoanFilter, $on: Boolean!) @skip(if: true) {
    loanCollection(first: $n, filter: $f, orderBy: [{seq: AscNullsLast}]) { edges { node { ...F seq @include(if: $on) } } }
    node(nodeId: "x") { ... on Loan { a: seq @skip(if: $on) } ... on Volume @include(if: false) { a: title } }
  }
  fragment F on Loan { id: seq patron { ...G fullName } }
  fragment G on Patron { sponsor { ...G id } }
  query B { __typename }`,
  `mutation M($o: [LoanInsertInput!]!, $o: Int) { insertIntoLoanCollection(objects: $o) { affectedCount } ...N }
  fragment N on Mutation { deleteFromLoanCollection(filter: {seq: {eq: 1, eq: 2}, seq: {in: [1, "a", null]}}) { records { seq } } }
  subscription S { loanCollection { edges { cursor } } } type T { a: Int }`,
];
const tokens = /"[^"]*"|\.{3}|\$?\w+|[^\s\w]/g;

/** Documents near to those above: words taken away, doubled, changed for one another. Only what still parses. */
function* documents(count: number): Generator<DocumentNode> {
  const random = createRandom(2026);
  const words = sources.flatMap((text) => text.match(tokens) as string[]).filter((word) => /\w/.test(word));
  for (let made = 0; made < count; ) {
    const text = [...(random.pick(sources).match(tokens) as string[])];
    for (let change = random.int(0, 4); change > 0; change -= 1) {
      const place = random.int(0, text.length - 1);
      if (!/\w/.test(text[place] as string)) continue;
      const word = random.pick(words);
      text.splice(place, 1, ...random.pick([[], [word], [text[place] as string, word]]));
    }
    const document = parseOrNull(text.join(' '));
    if (document === null) continue;
    made += 1;
    yield document;
  }
}

function parseOrNull(text: string): DocumentNode | null {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof GraphQLError) return null;
    throw error;
  }
}

function found(rules: readonly ValidationRule[], document: DocumentNode): unknown[] {
  return validate(schema, document, rules).map(({ message, locations }) => ({ message, locations }));
}

describe('Rules joined to one', () => {
  test('find what they find as a list, in its order', () => {
    const joined = [joinRules(specifiedRules)];
    let mistakes = 0;
    for (const document of documents(400)) {
      const expected = found(specifiedRules, document);
      mistakes += expected.length;
      expect(found(joined, document)).toEqual(expected);
    }
    expect(mistakes).toBeGreaterThan(400);
  });

  test('may leave out the inside of a node, or see no more, each for itself', () => {
    const seen: string[] = [];
    const notes = (name: string, answer: (field: string) => unknown): ValidationRule => {
      return () => ({
        Field: {
          enter({ name: { value } }) {
            seen.push(`${name} enters ${value}`);
            return answer(value) as undefined;
          },
          leave: ({ name: { value } }) => void seen.push(`${name} leaves ${value}`),
        },
      });
    };
    const rules = [
      notes('all', () => undefined),
      notes('outside', (field) => (field === 'patron' ? false : undefined)),
      notes('until', (field) => (field === 'patron' ? BREAK : undefined)),
    ];
    const document = parse('{ loan { patron { id } seq } }');
    validate(schema, document, [joinRules(rules)]);
    const joined = seen.splice(0);
    validate(schema, document, rules);
    expect(joined).toEqual(seen);
    expect(joined).toContain('outside enters seq');
    expect(joined).not.toContain('outside enters id');
    expect(joined).not.toContain('until leaves loan');
  });
});
