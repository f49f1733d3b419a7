/**
 * Invents a world: two schemas, tables and views over them, keys of all kinds, grants, policies, directives and functions.
 */
import { extensionNames } from '../../src/config/extensions.ts';
import { generateLinks } from './generate-links.ts';
import { generateRelations } from './generate-relations.ts';
import { generateRoutines } from './generate-routines.ts';
import type { Random } from './random.ts';
import { arrayTypes, asJsonValue, domainType, enumType, listOf, opaqueType, scalarTypes, type Type } from './types.ts';
import { literal, quote, type Schema, type World } from './world.ts';

/** What is decided for a whole world before its relations. */
export interface Ground {
  readonly schemas: readonly Schema[];
  readonly types: readonly Type[];
  readonly random: Random;
}

/** Invents a world whose objects live in schemas of this prefix. */
export function generateWorld(random: Random, prefix: string): World {
  const extensions = random.chance(0.7) ? extensionNames : [];
  const domain = (sql: string, over: string, values: readonly string[]) =>
    extensions.length === 0 ? opaqueType(sql, values) : domainType(sql, over, values);
  const jsonValues = extensions.length > 0 && random.chance(0.4);
  const schemas = [prefix, `${prefix}_more`].map((name) => ({
    name,
    inflect: random.chance(0.5),
    maxRows: random.chance(0.4) ? random.int(2, 12) : null,
    exactNumbers: extensions.length > 0 && random.chance(0.4),
    jsonValues,
  }));
  const [main, more] = schemas as [Schema, Schema];
  const hidden = `${prefix}_hidden`;
  const mapping = new Map(
    random.chance(0.6)
      ? [
          ['dark blue', 'DARK_BLUE'],
          ['green', 'Gruen'],
        ]
      : [],
  );
  const color = `${quote(main.name)}.${quote('color_kind')}`;
  const state = `${quote(more.name)}.${quote('State')}`;
  const stateName = random.chance(0.5) ? 'Zustand' : null;
  const colorType = enumType(
    color,
    main.inflect ? 'ColorKind' : 'color_kind',
    ['red', 'dark blue', 'green', 'Red'],
    mapping,
  );
  const stateType = enumType(state, stateName ?? 'State', ['open', 'closed', 'lost'], new Map());
  const secret = `${quote(hidden)}.${quote('secret')}`;
  const percent = `${quote(hidden)}.${quote('percent')}`;
  const note = `${quote(hidden)}.${quote('note')}`;
  const document = `${quote(hidden)}.${quote('document')}`;
  const common = scalarTypes.filter(({ sql }) => ['boolean', 'text', 'numeric(8,2)', 'integer'].includes(sql));
  const json = scalarTypes.filter(({ sql }) => sql === 'jsonb');
  const searched = scalarTypes.filter(({ sql }) => sql === 'tsvector');
  const types = [
    ...scalarTypes,
    // Its filter has many parts.
    ...[...json, ...json, ...json, ...json, ...searched, ...searched, ...searched],
    ...scalarTypes.filter(({ canSum, canCompare }) => canSum || canCompare),
    ...common,
    ...common,
    ...arrayTypes.map((type) => (extensions.length > 0 ? type : { ...type, elements: null })),
    colorType,
    colorType,
    stateType,
    ...[colorType, stateType].map((type) => listOf(type, extensions.length > 0)),
    opaqueType(secret, ['y', 'x']),
    domain(percent, 'numeric', ['0', '50', '12345678901234567890.5']),
    domain(note, 'text', ['', 'é', 'a "note"']),
    // Not ordered by: a cursor holds a JSON string without its quotes, which is no JSON any more.
    { ...domain(document, 'jsonb', ['{"n": 12345678901234567890.5}', '[]', '"x"']), canOrder: false },
  ];
  const ground = { schemas, types: jsonValues ? types.map(asJsonValue) : types, random };
  const relations = generateLinks(ground, generateRelations(ground));
  const mapped =
    mapping.size > 0
      ? [
          `comment on type ${color} is ${literal(`@graphql(${JSON.stringify({ mappings: Object.fromEntries(mapping) })})`)}`,
        ]
      : [];
  const renamed =
    stateName === null ? [] : [`comment on type ${state} is ${literal(`@graphql({"name": "${stateName}"})`)}`];
  return {
    extensions,
    schemas,
    typeStatements: [
      `create schema ${quote(hidden)}`,
      `grant usage on schema ${quote(hidden)} to anon, authenticated, service_role`,
      `create type ${color} as enum ('red', 'dark blue', 'green', 'Red')`,
      `create type ${state} as enum ('open', 'closed', 'lost')`,
      ...mapped,
      ...renamed,
      `create type ${secret} as enum ('y', 'x')`,
      `create domain ${percent} as numeric check (value >= 0)`,
      `create domain ${note} as text`,
      `create domain ${document} as jsonb`,
    ],
    ...relations,
    routines: generateRoutines(ground, relations.relations),
  };
}
