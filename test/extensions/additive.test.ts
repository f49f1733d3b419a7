/** Extensions only add: whatever is there without them is there with them, as it was and in its place (docs/extensions.md). */
import { graphqlSync } from 'graphql';
import { describe, expect, test } from 'vitest';
import { extensionNames } from '../../src/config/extensions.ts';
import { buildModel } from '../../src/graphql/model/build-model.ts';
import { buildRoleSchema, buildSchema } from '../../src/graphql/schema/build-schema.ts';
import type { Json } from '../support/execution.ts';
import { createDatabase, fixture } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const typeReference = '{ kind name ofType { kind name ofType { kind name ofType { kind name } } } }';
const introspection = `{ __schema { types { kind name interfaces { name } possibleTypes { name }
  fields(includeDeprecated: true) { name isDeprecated args { name defaultValue type ${typeReference} } type ${typeReference} }
  inputFields { name defaultValue type ${typeReference} } enumValues(includeDeprecated: true) { name } } } }`;

/** Root fields are in the order of their names. */
const roots = ['Query', 'Mutation'];
/** The type of a filter that searches. */
const searching = JSON.stringify({ kind: 'INPUT_OBJECT', name: 'TextSearchFilter', ofType: null });

/** Domains change types of what is there, which the manual says; this comment keeps them as they are. */
const opaqueDomains = `do $$ declare name regtype; begin
  for name in select oid::regtype from pg_type where typtype = 'd' and typnamespace::regnamespace::text !~ '^(pg_|information_schema)'
  loop execute format('comment on domain %s is %L', name, '@graphql({"opaque": true})'); end loop; end $$`;

const sources = [
  ['lib.sql'], ['query-library.sql', 'query-links.sql'], ['query-library.sql', 'query-functions.sql'], ['query-types.sql'], ['query-pages.sql'], ['mutation-library.sql'],
  ['mutation-types.sql'], ['mutation-views.sql'], ['function-library.sql', 'function-results.sql'], ['counters.sql'], ['places.sql'], ['search.sql'],
]; // biome-ignore format: a list of files

describe.each(sources.map((files) => [files.join(' '), files] as const))('%s', async (_, files) => {
  const database = await createDatabase(...files.map(fixture), opaqueDomains);
  const catalog = await modelReader(database).catalog(['lib']);

  test.each(['anon', 'authenticated', 'service_role'])('for %s the extensions only add to the schema', (role) => {
    const [before, after] = [[], extensionNames].map((extensions): readonly Json[] => {
      const schema = buildRoleSchema(buildModel(catalog, { role, extensions }));
      return (graphqlSync({ schema, source: introspection }).data as Json).__schema.types;
    });
    const types = new Map(after!.map((type) => [type.name, type]));
    for (const type of before!) {
      const { fields, inputFields, enumValues, possibleTypes, ...rest } = type;
      const extendedType = types.get(type.name);
      expect(extendedType, type.name).toMatchObject(rest);
      // Partitioned tables are nodes, too.
      const possible = possibleTypes?.map(({ name }: Json) => name);
      const kept = extendedType.possibleTypes?.flatMap(({ name }: Json) => (possible?.includes(name) ? [name] : []));
      expect(kept, type.name).toEqual(possible);
      for (const key of ['fields', 'inputFields', 'enumValues']) {
        const [old, all] = [type[key] ?? [], extendedType[key] ?? []];
        const isOld = ({ name }: Json) => old.some((each: Json) => each.name === name);
        const first = roots.includes(type.name) ? all.filter(isOld) : all.slice(0, old.length);
        expect(
          first.map((member: Json, index: number) => withoutAdded(member, old[index])),
          type.name,
        ).toEqual(old);
      }
    }
  });

  test('each type is found by its name alone, whatever was asked before', () => {
    const model = buildModel(catalog, { role: 'anon', extensions: extensionNames });
    const names = Object.keys(buildSchema(model).getTypeMap());
    expect(names.filter((name) => buildSchema(model).getType(name)?.name !== name)).toEqual([]);
  });
});

/** The member with the arguments that it had. */
function withoutAdded(member: Json, before: Json): Json {
  const type = JSON.stringify(member.type) === searching ? before?.type : member.type;
  return { ...member, ...(type && { type }), ...(member.args && { args: member.args.slice(0, before?.args.length) }) };
}
