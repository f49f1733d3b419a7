/**
 * Values in PostgreSQL's messages: only those that the request has sent are shown, in the languages that PostgreSQL speaks.
 */
import { expect, test } from 'vitest';
import { hideUnsent } from '../../../../src/graphql/execute/answer/cited-input.ts';

test.each([
  ['invalid input syntax for type integer: "VALUE"', 'invalid input syntax for type integer: "…"'],
  ['invalid input value for enum "Kind of thing": "VALUE"', 'invalid input value for enum "Kind of thing": "…"'],
  ['time zone "VALUE" not recognized', 'time zone "…" not recognized'],
  ['value "VALUE" is out of range for type smallint', 'value "…" is out of range for type smallint'],
  ['"VALUE" is not a number', '"…" is not a number'],
  ['invalid value "VALUE" for "yyyy"', 'invalid value "…"'],
  ['ungültige Eingabesyntax für Typ integer: »VALUE«', 'ungültige Eingabesyntax für Typ integer: »…«'],
  [
    'syntaxe en entrée invalide pour le type integer : « VALUE »',
    'syntaxe en entrée invalide pour le type integer : «…»',
  ],
])('%s', (template, hidden) => {
  for (const value of ['secret', 'in', 'a "b" c', '"quoted"', 'type "x": "y', ': "type "a": ']) {
    const message = template.replace('VALUE', () => value);
    expect(hideUnsent(message, ['else', null, '{"a": "b"}'])).toBe(hidden);
    if (!template.includes('yyyy')) expect(hideUnsent(message, [`{"given":${JSON.stringify(value)}}`])).toBe(message);
  }
});

test('a part of a value is not sent; a member of a list, a row or JSON is', () => {
  const message = 'invalid input syntax for type integer: "991399"';
  const hidden = 'invalid input syntax for type integer: "…"';
  for (const sent of ['0991399', '991399,1', 'x 991399', '{"a":"0991399"}', '{"1991399"}', '[9913990]'])
    expect(hideUnsent(message, [sent])).toBe(hidden);
  for (const sent of [
    '991399',
    ' 991399 ',
    '{"1","991399"}',
    '("a","991399")',
    '[{"n":991399}]',
    '{"{\\"n\\": \\"991399\\"}"}',
  ])
    expect(hideUnsent(message, [sent])).toBe(message);
});

test('a message without a value stays as it is', () => {
  expect(hideUnsent('integer out of range', [])).toBe('integer out of range');
});
