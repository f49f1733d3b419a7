/**
 * Golden cases: an operation, the SQL it compiles to, and its answer on a real database.
 *
 * A case is `<theme>/<name>.graphql`; its first comment lines say `fixture` (one or more files), `role`, `variables`, optionally `warm` (other
 * variables of the same shape), `less` (a role that must see less) and `extended` (`differs`: extensions change the answer; `only`: there
 * is none without them). Beside it lie
 * `<name>.sql` and `<name>.json`, rewritten only by `npm run test:update`. Every case runs cold and then warm: same text, right answer; and
 * without extensions, as the manual has it, and with all of them, which must change nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, parse, validateSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { buildRoleSchema } from '../../src/graphql/schema/build-schema.ts';
import { printUsedSchema } from '../../src/graphql/schema/print-used-schema.ts';
import { validateDocument } from '../../src/graphql/schema/validate.ts';
import { startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, fixture } from '../support/postgres.ts';

interface GoldenCase {
  readonly name: string;
  readonly path: string;
  readonly query: string;
  readonly header: ReadonlyMap<string, string>;
}

const root = import.meta.dirname;
const compatible = { strictVariablePositions: false, suggestions: false };

const themes = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const cases = themes.flatMap((theme) =>
  readdirSync(join(root, theme.name))
    .filter((file) => file.endsWith('.graphql'))
    .map((file) => readCase(`${theme.name}/${file.slice(0, -'.graphql'.length)}`)),
);

const ways = [
  {
    title: 'without extensions',
    options: { extensions: [] },
    tried: cases.filter(({ header }) => header.get('extended') !== 'only'),
  },
  { title: 'with extensions', options: {}, tried: cases.filter(({ header }) => header.get('extended') !== 'differs') },
] as const;

describe.each(ways)('$title', ({ title, options, tried }) => {
  for (const [name, group] of groupByFixture(tried)) {
    describe(name, () => {
      let execution: Promise<TestExecution> | null = null;
      const start = () => {
        execution ??= createDatabase(...name.split(' ').map(fixture)).then((database) =>
          startExecution(database, { schemas: ['lib'], ...options }),
        );
        return execution;
      };
      for (const golden of group) {
        test(golden.name, async () => runCase(await start(), golden));
      }
      // With them there is more to be valid against.
      if (title === 'without extensions') return;
      test('each operation is valid against the part of the schema that it uses, which is valid by itself', async () => {
        const execution = await start();
        for (const { name: of, query, header } of group) {
          const document = parse(query);
          const { model } = (await execution.role(header.get('role') ?? 'anon')).shared;
          const used = buildSchema(printUsedSchema(buildRoleSchema(model), [document]));
          expect([of, validateSchema(used), validateDocument(used, document, compatible)]).toEqual([of, [], []]);
        }
      });
    });
  }
});

async function runCase(execution: TestExecution, golden: GoldenCase): Promise<void> {
  const role = golden.header.get('role') ?? 'anon';
  const variables = parseJson(golden.header.get('variables'));
  const statements = await execution.statements(role, golden.query, { variables });
  const text = `${statements.map((statement) => statement.text).join(';\n')};\n`;
  const body = await execution.run(role, golden.query, { variables });
  await expect(text).toMatchFileSnapshot(`${golden.path}.sql`);
  await expect(`${JSON.stringify(body, null, 2)}\n`).toMatchFileSnapshot(`${golden.path}.json`);

  const warm = golden.header.has('warm') ? parseJson(golden.header.get('warm')) : variables;
  const again = await execution.statements(role, golden.query, { variables: warm });
  expect(again.map((statement) => statement.text)).toEqual(statements.map((statement) => statement.text));
  const warmBody = await execution.run(role, golden.query, { variables: warm });
  const warmText = `${JSON.stringify(warmBody, null, 2)}\n`;
  if (golden.header.has('warm')) await expect(warmText).toMatchFileSnapshot(`${golden.path}.warm.json`);
  else expect(warmBody).toEqual(body);

  const less = golden.header.get('less');
  if (less !== undefined) expect(await execution.run(less, golden.query, { variables })).not.toEqual(body);
}

function readCase(name: string): GoldenCase {
  const path = join(root, name);
  const query = readFileSync(`${path}.graphql`, 'utf8');
  const header = new Map<string, string>();
  for (const line of query.split('\n')) {
    const match = /^# (\w+): (.*)$/.exec(line);
    if (match === null) break;
    header.set(match[1]!, match[2]!);
  }
  return { name, path, query, header };
}

function groupByFixture(all: readonly GoldenCase[]): ReadonlyMap<string, readonly GoldenCase[]> {
  return Map.groupBy(all, ({ header }) => header.get('fixture') ?? 'lib.sql');
}

function parseJson(text: string | undefined): Record<string, unknown> {
  return text === undefined ? {} : JSON.parse(text);
}
