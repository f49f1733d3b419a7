/**
 * Reference tables are made from the source, so they cannot drift: `npm run test:update` writes them, this test compares.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeAuth } from '../../src/auth/routes/auth-description.ts';
import { authField, authFieldNames } from '../../src/config/auth/auth-fields.ts';
import { authReference } from '../../src/config/auth/auth-reference.ts';
import { emailKindNames, emailKinds } from '../../src/config/auth/email-kinds.ts';
import { type OptionDefinition, options } from '../../src/config/options.ts';
import { sampleData } from '../../src/email/lint/template-samples.ts';
import { describedSchema } from '../../src/graphql/execute/describe-schema.ts';
import { describeSchemaRoute } from '../../src/graphql/routes/schema-route.ts';
import { describeManagement } from '../../src/management/routes/management-description.ts';
import { connectionReset } from '../../src/postgres/caller/connection-reset.ts';
import { type SeriesDefinition, seriesGroups, unitOf } from '../../src/server/metrics/series.ts';
import type { ApiDescription, ApiOperation } from '../../src/server/openapi.ts';
import { errorCodes } from '../../src/shared/errors.ts';
import { inboxRoutes } from '../../src/studio/routes/inbox-route.ts';
import { describeStudio } from '../../src/studio/routes/studio-description.ts';
import { studioRoutes } from '../../src/studio/routes/studio-route-table.ts';
import { listFiles, root } from './source.ts';

const generated = '<!-- Written by `npm run test:update` from the source; edit that. -->';

test('docs/errors.md lists every error code with its status and meaning', async () => {
  const rows = Object.entries(errorCodes).map(
    ([code, { status, transport, meaning }]) =>
      `| \`${code}\` | ${status} | ${transport ? 'always' : 'if accepted'} | ${meaning} |`,
  );
  const text = `# Error codes

${generated}

Every error has one of these codes in \`extensions.code\`. *always*: the response has this HTTP status. *if accepted*: only with
\`application/graphql-response+json\`; with \`application/json\` the status is 200, as GraphQL clients expect.

| code | HTTP status | answered | meaning |
|---|---|---|---|
${rows.join('\n')}
`;
  await expect(text).toMatchFileSnapshot(join(root, 'docs/errors.md'));
});

test('the vocabulary of CONTRIBUTING.md has at most 25 rows: other words are standard terms', () => {
  const [, vocabulary = ''] = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split('\n## Vocabulary\n');
  const rows = vocabulary.slice(0, vocabulary.indexOf('\n## ')).match(/^\| (?!word \|)/gm);
  expect(rows?.length).toBeLessThanOrEqual(25);
});

test('the help of an option begins with at most 12 words, before its unit and exceptions', () => {
  const docs = [...Object.values<OptionDefinition>(options), ...authFieldNames.map(authField)].map(({ doc }) => doc);
  expect(docs.filter((doc) => (doc.split(/[.;] |: \{/)[0] ?? '').split(' ').length > 12)).toEqual([]);
});

/** The options that nobody goes into production without */
const optionsOfEveryProject: readonly string[] = [
  'databaseUrl', 'adminDatabaseUrl', 'schemas', 'host', 'port', 'externalUrl', 'trustedProxies', 'jwtSecret',
]; // biome-ignore format: a list of names

test('docs/options.md lists every option with its default, its names and its meaning', async () => {
  const rows = (Object.entries(options) as [string, OptionDefinition][]).map(([key, option]) => {
    const words = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const flag = option.placeholder === null ? `--${words}` : `--${words} ${option.placeholder}`;
    const environment = [`PGREFLECT_${words.replaceAll('-', '_').toUpperCase()}`, ...(option.ecosystem ?? [])];
    const fallback = option.default === null ? (option.defaultNote ?? 'none') : `\`${option.default}\``;
    const cells = [
      `\`${flag}\``,
      environment.map((name) => `\`${name}\``).join(', '),
      fallback,
      option.commands.join(', '),
      [option.doc, ...Object.entries(option.docs ?? {}).map(([command, doc]) => `For ${command}: ${doc}`)].join(' '),
    ];
    return {
      key,
      flag: words,
      isInPlace: option.inPlace === true,
      group: option.group,
      line: `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
    };
  });
  const inPlace = rows.filter(({ isInPlace }) => isInPlace).map(({ flag }) => `\`--${flag}\``);
  const mostSet = rows.filter(({ key }) => optionsOfEveryProject.includes(key)).map(({ line }) => line);
  expect(mostSet).toHaveLength(optionsOfEveryProject.length);
  const groups = [...new Set(rows.map(({ group }) => group))].map((group) => {
    const lines = rows.filter((row) => row.group === group).map(({ line }) => line);
    return `## ${group}\n\n| flag | environment | default | commands | meaning |\n|---|---|---|---|---|\n${lines.join('\n')}\n`;
  });
  const authGroups = [...authReference()].map(([heading, rows]) => {
    const words = new Map(rows.flatMap(({ word }) => word ?? []).map((word) => [word.placeholder, word.standsFor]));
    const legend = [...words].map(([word, standsFor]) => `${word} is one of ${standsFor.join(', ')}.\n\n`).join('');
    const lines = rows.map((row) => {
      const cells = [
        `\`${row.placeholder === null ? row.flag : `${row.flag} ${row.placeholder}`}\``,
        row.environment.map((name) => `\`${name}\``).join(', '),
        row.file === null ? '' : `\`${row.file}\``,
        row.default === null ? 'none' : `\`${row.default}\``,
        row.doc,
      ];
      return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
    });
    return `## ${heading}\n\n${legend}| flag | environment | file | default | meaning |\n|---|---|---|---|---|\n${lines.join('\n')}\n`;
  });
  const text = `# Options

${generated}

A project in production sets these, and \`--site-url\`, the address of its application. Its mail server is under
[Auth: emails and limits](#auth-emails-and-limits). Everything else has a default that fits most.

| flag | environment | default | commands | meaning |
|---|---|---|---|---|
${mostSet.join('\n')}

Flags override environment variables. These override the configuration file (\`pgreflect.toml\` or \`--config FILE\`), which overrides
defaults. The key in the file is the flag in snake case: \`max_depth\` for \`--max-depth\`. To read a secret from a file, add \`_FILE\` to
the variable: \`PGREFLECT_JWT_SECRET_FILE\`.

A running gateway takes over other values of ${inPlace.slice(0, -1).join(', ')} and ${inPlace.at(-1)} when [its files change](deployment.md#changes-of-the-configuration).

In a file that \`--config\` or \`PGREFLECT_CONFIG\` names, \`env(NAME)\` is the variable. A \`pgreflect.toml\` that is only found gets no variables and
reads no files outside its folder, because it may have come with a repository.

Options under headings that begin with "Auth" are start values for \`start\` and \`serve\`. Values stored through the management API
override them, unless you set \`--config-only\`. In the file, use their names in snake case or the table listed here. Texts of
notifications are in \`auth.email.notification.CHANGE\`.

An email body is text (with a line break, \`<\` or \`{{\`), a file (\`./confirm.html\`; \`content_path\` in the configuration file), or a
URL (\`https://…\`, or a path below the site URL).

${[...groups, ...authGroups].join('\n')}`;
  await expect(text).toMatchFileSnapshot(join(root, 'docs/options.md'));
});

test('docs/endpoints.md lists every operation of the HTTP API that /openapi.json describes', async () => {
  const { operations } = mergeDescriptions();
  const tables = [...new Set(operations.map(({ tag }) => tag))].map((tag) => {
    const lines = operations
      .filter((operation) => operation.tag === tag)
      .map(({ method, path, security, summary }) => {
        const needs =
          security.map((names) => names.map((name) => securityWords[name]).join(' and ')).join(', or ') || 'nothing';
        return `| ${method.toUpperCase()} | \`${path}\` | ${needs} | ${summary} |`;
      });
    return `## ${tag}\n\n| method | path | needs | does |\n|---|---|---|---|\n${lines.join('\n')}\n`;
  });
  const text = `# Endpoints

${generated}

A running gateway serves an OpenAPI 3.1 document at \`/openapi.json\`, with the schemas of requests and responses. The GraphQL API is
\`POST /graphql/v1\`, for queries also GET; browsers get GraphiQL there. \`/health\` and \`/ready\` are for load balancers.

Send the key in the header \`apikey\` and the token as \`Authorization: Bearer …\`. On \`/graphql/v1\` the key alone stands in for
\`Authorization\`. Below \`/auth/v1\` only an opaque key does (\`sb_secret_…\`); a key that is a token has to be sent in both headers.

${tables.join('\n')}`;
  await expect(text).toMatchFileSnapshot(join(root, 'docs/endpoints.md'));
});

function mergeDescriptions(): ApiDescription {
  const parts = [
    describeSchemaRoute(),
    describeAuth(),
    describeManagement(describedSchema),
    describeStudio(studioRoutes, inboxRoutes),
  ];
  return {
    operations: parts.flatMap(({ operations }) => operations),
    schemas: Object.assign({}, ...parts.map(({ schemas }) => schemas)),
  };
}

/** What a caller shows, in words. */
const securityWords = {
  accessToken: 'an access token',
  apiKey: 'a key',
  serviceToken: 'the service key as token',
  userToken: "the user's token",
} as const satisfies Record<ApiOperation['security'][number][number], string>;

test('docs/metrics.md lists every series with its type, labels and meaning', async () => {
  const tables = Object.entries<Readonly<Record<string, SeriesDefinition>>>(seriesGroups).map(([group, rows]) => {
    const lines = Object.entries(rows).map(
      ([name, { type, labels, help }]) =>
        `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${unitOf(name) ?? ''} | ${help} |`,
    );
    return `### ${group}\n\n| series | type | labels | unit | meaning |\n|---|---|---|---|---|\n${lines.join('\n')}\n`;
  });
  const [written = ''] = readFileSync(join(root, 'docs/metrics.md'), 'utf8').split(/(?<=\n)(?=### Requests\n)/);
  await expect(`${written}${tables.join('\n')}`).toMatchFileSnapshot(join(root, 'docs/metrics.md'));
});

test('docs/template-variables.md lists the variables of every email', async () => {
  const emails = emailKindNames.map((kind) => {
    const { variables, failure } = emailKinds[kind];
    const fields = `\`mailer_subjects_${kind}\`, \`mailer_templates_${kind}_content\``;
    const sort = failure === null ? 'notification' : 'authentication';
    return `| \`${kind}\` | ${sort} | ${variables.map((name) => `\`.${name}\``).join(' ')} | ${fields} |`;
  });
  const everything = Object.assign({}, ...emailKindNames.map((kind) => sampleData(kind)[0])) as Record<string, unknown>;
  const values = Object.entries(everything).map(
    ([name, value]) => `| \`.${name}\` | \`${typeof value === 'string' ? value : JSON.stringify(value)}\` |`,
  );
  const text = `# Variables of email templates

${generated}

To write a template, see [email templates](email-templates.md).

| email | kind | variables | configuration fields |
|---|---|---|---|
${emails.join('\n')}

Sample values:

| variable | for example |
|---|---|
${values.join('\n')}

\`.Data\` is the user metadata (\`user_metadata\`).
`;
  await expect(text).toMatchFileSnapshot(join(root, 'docs/template-variables.md'));
});

test('docs/security.md names every finding of pgreflect check', () => {
  const sources = ['src/check', 'src/cli']
    .flatMap((folder) => listFiles(folder, '.ts'))
    .map((path) => readFileSync(join(root, path), 'utf8'));
  const findings = sources
    .flatMap((text) => [...text.matchAll(/\bcheck: (?:.* \? )?'(\w+)'(?: : '(\w+)')?/g)])
    .flatMap(([, ...names]) => names.filter((name) => name !== undefined));
  expect(findings.length).toBeGreaterThan(15);
  const page = readFileSync(join(root, 'docs/security.md'), 'utf8');
  expect(findings.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test('every option says in a sentence what it does', () => {
  const silent = (Object.entries(options) as [string, OptionDefinition][]).filter(
    ([, { doc }]) => !/^.{10,}\.$/.test(doc),
  );
  expect(silent.map(([key]) => key)).toEqual([]);
});

test('every error code is provoked by a test', () => {
  const texts = ['.test.ts', '.json']
    .flatMap((ending) => listFiles('test', ending))
    .filter((path) => !path.startsWith('test/house/') && !path.startsWith('test/bench/'))
    .map((path) => readFileSync(join(root, path), 'utf8'));
  const untested = Object.keys(errorCodes).filter(
    (code) => !texts.some((text) => new RegExp(`['"\`]${code}['"\`]`).test(text)),
  );
  expect(untested).toEqual([]);
});

test('links in the documents lead to files and headings that exist', () => {
  const documents = [
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    ...listFiles('src', '.md'),
    'examples/clients/README.md',
    'examples/deploy/README.md',
    'examples/email-links/README.md',
    'examples/live-todo/README.md',
    'examples/monitoring/README.md',
    'examples/shop/README.md',
    'test/bench/README.md',
    ...listFiles('docs', '.md'),
  ];
  const broken = documents.flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
      .map(([, file = '', place = null]) => ({ target: file === '' ? path : join(path, '..', file), place }))
      .filter(({ target, place }) => !exists(join(root, target)) || !(place === null || hasHeading(target, place)))
      .map(({ target, place }) => `${path} -> ${target}${place === null ? '' : `#${place}`}`),
  );
  expect(broken).toEqual([]);
});

test('the state diagrams of src/ lead on from every state, and have the states of the code', () => {
  const diagrams = new Map(
    listFiles('src', '.md').flatMap((path) => {
      const [, diagram = null] =
        /```mermaid\nstateDiagram-v2\n(.*?)```/s.exec(readFileSync(join(root, path), 'utf8')) ?? [];
      return diagram === null ? [] : [[path, [...diagram.matchAll(/^ *(\S+) --> (\S+?)(?=:|$)/gm)]] as const];
    }),
  );
  expect([...diagrams.keys()].sort()).toEqual([
    'src/graphql/compile/print/schema-assertion.md',
    'src/graphql/execute/freshness.md',
    'src/postgres/caller/README.md',
  ]);
  for (const arrows of diagrams.values()) {
    const from = new Set(arrows.map(([, state]) => state));
    expect(arrows.map(([, , state]) => state).filter((state) => !from.has(state))).toEqual([]);
  }
  const ofConnections = new Set((diagrams.get('src/postgres/caller/README.md') ?? []).flatMap(([, ...ends]) => ends));
  const others = ['[*]', 'direct', 'closed'];
  expect([...ofConnections].sort()).toEqual([...Object.keys(connectionReset), ...others].sort());
});

/** Whether a document has a heading of that name, as a link writes it. */
function hasHeading(path: string, place: string): boolean {
  const headings = readFileSync(join(root, path), 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].some(
    ([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-') === place,
  );
}

function exists(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch (problem) {
    return (problem as NodeJS.ErrnoException).code === 'EISDIR';
  }
}

test('docs/security.md names tests that exist, and every attack test', () => {
  const text = readFileSync(join(root, 'docs/security.md'), 'utf8');
  const rows = text.split('\n').filter((line) => line.startsWith('| ') && line.includes('`'));
  const named = rows.flatMap((row) => [...(row.split('|').at(-2) ?? '').matchAll(/`([a-z-]+(?:\/[a-z-]+)+)`/g)]);
  const names = named.map(([, name]) => `test/${name}.test.ts`);
  const files = listFiles('test', '.test.ts');
  expect(names.filter((name) => !files.includes(name))).toEqual([]);
  // A nightly file is a test of the same name at a larger size.
  const attacks = files.filter((file) => /^test\/attack\/.*\.test\.ts$/.test(file));
  expect(attacks.filter((file) => !names.includes(file.replace('.nightly.', '.')))).toEqual([]);
});

test('a comment in sql/ names files of src/ that exist', () => {
  const missing = listFiles('sql', '.sql').flatMap((file) => {
    const named = readFileSync(join(root, file), 'utf8').match(/src\/[\w./-]+\.ts/g) ?? [];
    return named.filter((name) => !exists(join(root, name))).map((name) => `${file}: ${name}`);
  });
  expect(missing).toEqual([]);
});

test('every npm script that a document, a workflow or a program of ours names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
  const files = ['README.md', 'CONTRIBUTING.md', '.ci/run', '.github/workflows/ci.yml', ...listFiles('docs', '.md')];
  const named = [...files, ...listFiles('test', '.ts'), ...listFiles('test', '.md')].flatMap((path) =>
    [
      ...readFileSync(join(root, path), 'utf8').matchAll(
        /npm run (?:-s )?((?:test|build|bench|storm|soak|cluster|check|format)[\w:]*)/g,
      ),
    ].map(([, name = '']) => `${path}: ${name}`),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((each) => !((each.split(': ')[1] ?? '') in scripts))).toEqual([]);
});
