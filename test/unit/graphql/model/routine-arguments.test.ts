import { expect, test } from 'vitest';
import type { CatalogRoutine } from '../../../../src/graphql/catalog/catalog.ts';
import type { SqlType } from '../../../../src/graphql/model/model.ts';
import { argumentDefaults, displayDefault } from '../../../../src/graphql/model/routines/routine-arguments.ts';

const builtIn = (name: string): SqlType => ({
  oid: '0',
  namespace: 'pg_catalog',
  name,
  modifier: null,
  maxLength: null,
  blankPadded: false,
  fromTexts: false,
  arrays: 'of_it',
  zones: null,
  base: null,
  lacks: null,
  own: null,
});

test('only plain literals of a few types are shown as defaults', () => {
  const cases: [string, string | null, string | null][] = [
    ['int4', '7', '7'],
    ['int2', '0', '0'],
    ['int4', '-7', null],
    ['int4', "'-7'::integer", null],
    ['int4', '(1 + 2)', null],
    ['int4', '4294967296', null],
    ['int8', '7', null],
    ['bool', 'true', 'true'],
    ['bool', 'false', 'false'],
    ['bool', '(NOT true)', null],
    ['float8', '1.0', '1'],
    ['float8', '0.5', '0.5'],
    ['float4', '1e400', null],
    ['text', "'it''s'::text", '"it\'s"'],
    ['text', String.raw`'a\b "c"'::text`, String.raw`"a\\b \"c\""`],
    ['text', 'NULL::text', null],
    ['text', "upper('a'::text)", null],
    ['text', null, null],
    ['text', `'${'a'.repeat(17_000_000)}'::text`, null],
    ['varchar', "'a'::character varying", null],
  ];
  for (const [type, expression, shown] of cases) {
    expect(
      displayDefault(expression, { kind: 'scalar', scalar: 'Opaque', cast: builtIn(type) }, new Map()),
      `${type} ${expression}`,
    ).toBe(shown);
  }
});

test('defaults belong to the last arguments, and a comma inside one makes all arguments required without the extension', () => {
  const defaults = (text: string | null, declared: number, count: number, isExtended = false) => {
    const routine = { defaults: text, pronargdefaults: declared } as CatalogRoutine;
    return argumentDefaults(routine, count, { isExtended });
  };
  expect(defaults('7, true', 2, 3)).toEqual([null, '7', 'true']);
  expect(defaults("7, 'a, b'::text", 2, 2)).toEqual([null, null]);
  expect(defaults(null, 0, 2)).toEqual([null, null]);
  expect(defaults("7, 'a, b'::text", 2, 2, true)).toEqual(['7', "'a, b'::text"]);
  expect(defaults(`GREATEST(1, 2), ARRAY['],'::text], f("a,(", E'it''s\\\\, ')`, 3, 4, true)).toEqual([
    null,
    'GREATEST(1, 2)',
    "ARRAY['],'::text]",
    `f("a,(", E'it''s\\\\, ')`,
  ]);
  expect(defaults(null, 0, 2, true)).toEqual([null, null]);
});
