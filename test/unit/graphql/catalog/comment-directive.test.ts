import { expect, test } from 'vitest';
import { parseCommentDirective, withDirective } from '../../../../src/graphql/catalog/comment-directive.ts';

const directiveValue = (comment: string) => {
  const directive = parseCommentDirective(comment);
  return directive.kind === 'directive' ? directive.value : directive;
};

test('a comment without the opening, without any closing parenthesis, or with nothing between has no directive', () => {
  for (const comment of [
    null,
    '',
    'plain',
    '@graphql {}',
    '@GraphQL({})',
    '@graphql ({})',
    '@graphql({"a": 1}',
    '@graphql()',
    '@graphql( \n )',
  ]) {
    expect(parseCommentDirective(comment)).toEqual({ kind: 'none' });
  }
});

test('a directive may be surrounded by text, and text after it may hold parentheses and directives', () => {
  expect(directiveValue('Ledger (old). @graphql({"max_rows": 5}) See (1) and @graphql({"max_rows": 6}).')).toEqual({
    max_rows: 5,
  });
});

test('blanks and line breaks are allowed wherever JSON allows them', () => {
  expect(directiveValue('@graphql(\n\t{ "a" :\r\n [ 1 , 2 ] , "b" : { } }\n)')).toEqual({ a: [1, 2], b: {} });
});

test('parentheses, brackets and escaped quotes inside strings are ordinary characters', () => {
  expect(directiveValue('@graphql({"name": "a) \\" }] (b", "x": "\\u0041\\\\"})')).toEqual({
    name: 'a) " }] (b',
    x: 'A\\',
  });
});

test('keys with null are left out, and a value that is no object stands for an empty one', () => {
  expect(directiveValue('@graphql({"name": null, "max_rows": 1})')).toEqual({ max_rows: 1 });
  for (const json of ['[1]', '"text"', '5', 'true', 'null', '-1.5e3', '[]', '[[], [{}]]']) {
    expect(directiveValue(`@graphql(${json})`)).toEqual({});
  }
});

test('what is malformed is reported with its character', () => {
  const cases: [string, string, number][] = [
    ['@graphql({name: "x"})', 'expected a key in double quotes', 11],
    ['@graphql({"name" "x"})', 'expected ":" after the key', 18],
    ['@graphql({"name": })', 'expected a JSON value', 19],
    ['@graphql({"a": 1 "b": 2})', 'expected "," or "}"', 18],
    ['@graphql([1 2])', 'expected "," or "]"', 13],
    ['@graphql({"a": 1,})', 'expected a key in double quotes', 18],
    ['@graphql({"a": 1} x)', 'expected ")" after the JSON value', 19],
    ['@graphql({"a": 01})', 'expected a JSON value', 16],
    ["@graphql({'a': 1})", 'expected a key in double quotes', 11],
    ['Bücher 📚 @graphql(x)', 'expected a JSON value', 19],
    ['@graphql({"a": "line\nbreak"})', 'expected a JSON value', 16],
    ['@graphql({"a": 1)', 'expected "," or "}"', 17],
  ];
  for (const [comment, problem, position] of cases) {
    expect(parseCommentDirective(comment), comment).toEqual({ kind: 'malformed', problem, position });
  }
});

test('depth and length are harmless', () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  expect(parseCommentDirective(`@graphql({"a": "${'x'.repeat(1_000_000)}"})`).kind).toBe('directive');
  expect(() => parseCommentDirective(`@graphql(${deep})`)).not.toThrow();
  // JavaScript's stack would end in its string.
  expect(parseCommentDirective(`@graphql({"a": "${'x'.repeat(17_000_000)}"})`)).toEqual({
    kind: 'malformed',
    problem: 'the comment is longer than 2000000 characters',
    position: 10,
  });
  expect(parseCommentDirective('x'.repeat(17_000_000))).toEqual({ kind: 'none' });
});

test('a key called like a property of every object is an ordinary key', () => {
  expect(directiveValue('@graphql({"__proto__": {"name": "x"}, "toString": 1})')).not.toHaveProperty('name');
});

test.each([
  [null, '@graphql({"a":1})'],
  ['', '@graphql({"a":1})'],
  ['Of the house.', 'Of the house. @graphql({"a":1})'],
  ['Text @graphql( {"b": [1, ")"], "a": 2} ) and (more)', 'Text @graphql({"b":[1,")"],"a":1}) and (more)'],
  // Nothing can be said without losing what somebody meant.
  ['@graphql({"b" 1})', null],
  ['@graphql()', null],
  ['@graphql({"b": 1}', null],
])('keys go into the directive of %j, and the rest stays', (comment, expected) => {
  expect(withDirective(comment, { a: 1 })).toBe(expected);
});
