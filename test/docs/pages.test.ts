/**
 * Every code block of the README and of docs/ is run: a page is right when running it gives the page. `npm run test:update` writes the answers.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTemplate, root, startPageWorld } from './page-world.ts';
import { parsePage } from './parse-page.ts';
import { runPage } from './run-page.ts';

const generated = '<!-- Written by `npm run test:update` from the source; edit that. -->';
const names = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const pages = ['README.md', ...names.map((name) => `docs/${name}`)]
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
  .filter(({ text }) => !text.includes(generated));

const example = ['schema', 'data'].map((name) => readFileSync(join(root, `examples/shop/${name}.sql`), 'utf8'));
/** What `<!-- runs on: … -->` may say. */
const templates: Readonly<Record<string, string>> = {
  'an empty database': await createTemplate(),
  'the example': await createTemplate(...example),
};
const withDocuments = ' with its trusted documents';

test.each(pages)('$path does what it says', async ({ path, text }) => {
  const page = parsePage(text);
  if (!page.parts.some((part) => part.kind === 'code' && part.notRun === null)) return;
  const database = page.runsOn.replace(withDocuments, '');
  expect(Object.keys(templates)).toContain(database);
  const trusted = { trustedDocuments: join(root, 'examples/shop/queries'), trustedOnly: true };
  const world = await startPageWorld(templates[database]!, page, page.runsOn === database ? {} : trusted);
  await expect(await runPage(page, world)).toMatchFileSnapshot(join(root, path));
});

test('what is not run says why', () => {
  const notRun = pages.flatMap(({ path, text }) =>
    parsePage(text).parts.flatMap((part) =>
      part.kind === 'code' && part.notRun !== null ? [`${path} (${part.language}): ${part.notRun}`] : [],
    ),
  );
  expect(notRun).toMatchInlineSnapshot(`
    [
      "README.md (sh): test/package/package.nightly.test.ts starts it",
      "README.md (sh): it runs this page",
      "README.md (sh): it goes on running; test/commands/serve.test.ts starts it",
      "docs/auth-flows.md (sh): test/package/sign-in.nightly.test.ts runs it",
      "docs/auth-flows.md (sh): test/package/first-hour.nightly.test.ts types it",
      "docs/auth-flows.md (sh): test/package/sign-in.nightly.test.ts runs it",
      "docs/auth-flows.md (sql): the tables of this page have them",
      "docs/backup.md (sh): test/migrations/backup.nightly.test.ts types it",
      "docs/backup.md (sh): test/migrations/backup.nightly.test.ts types it",
      "docs/backup.md (sh): test/migrations/backup.nightly.test.ts types it",
      "docs/backup.md (sh): test/migrations/backup.nightly.test.ts types it",
      "docs/backup.md (sh): test/migrations/backup.nightly.test.ts types it",
      "docs/clients.md (js): test/clients/clients.nightly.test.ts runs examples/clients/live",
      "docs/clients.md (toml): a file of another program",
      "docs/clients.md (sh): it needs Go",
      "docs/clients.md (yaml): a file of another program",
      "docs/clients.md (graphql): a file of another program",
      "docs/clients.md (kotlin): a file of another program",
      "docs/connect-your-database.md (sh): it goes on running; test/commands/serve.test.ts starts it",
      "docs/deployment.md (sh): it needs a container engine; test/package/first-hour.nightly.test.ts runs the commands of its services",
      "docs/deployment.md (sh): test/package/first-hour.nightly.test.ts types it",
      "docs/deployment.md (sh): it changes the machine; test/package/first-hour.nightly.test.ts types it for another folder than /",
      "docs/deployment.md (sh): it needs a proxy; test/egress/proxy.test.ts has one",
      "docs/email-templates.md (html): a layout, which is no email by itself",
      "docs/embedding.md (js): test/package/embedding.test.ts runs the blocks of this page together",
      "docs/embedding.md (js): test/package/embedding.test.ts runs the blocks of this page together",
      "docs/embedding.md (js): test/package/embedding.test.ts runs the blocks of this page together",
      "docs/embedding.md (js): test/package/embedding.test.ts runs the blocks of this page together",
      "docs/embedding.md (js): test/package/embedding.test.ts runs the blocks of this page together",
      "docs/embedding.md (js): test/package/embedding.test.ts runs the blocks of this page together",
      "docs/embedding.md (js): test/package/embedding.test.ts runs the blocks of this page together",
      "docs/embedding.md (js): test/package/embedding.test.ts runs the blocks of this page together",
      "docs/embedding.md (js): test/package/embedding.test.ts runs the blocks of this page together",
      "docs/first-query.md (sh): the tests of the package start it",
      "docs/from-supabase.md (sh): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (sh): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (text): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (sh): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (text): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (sh): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (sh): it goes on running; test/migrations/move.test.ts starts it",
      "docs/from-supabase.md (sh): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (sh): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (sh): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (sh): it goes on running; test/migrations/move.test.ts starts it",
      "docs/from-supabase.md (sh): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (text): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (sh): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (sh): test/migrations/move.nightly.test.ts runs it",
      "docs/from-supabase.md (sh): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (sh): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (sh): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (sh): it goes on running; test/migrations/move.test.ts starts it",
      "docs/from-supabase.md (js): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (sh): it goes on running; test/migrations/move.test.ts starts it",
      "docs/from-supabase.md (sh): test/migrations/move.test.ts runs it",
      "docs/from-supabase.md (sh): test/migrations/move.test.ts runs it",
      "docs/hooks.md (sql): test/auth/hook-access-token.test.ts runs it",
      "docs/leave.md (sh): test/migrations/leave.test.ts runs it",
      "docs/leave.md (sh): test/migrations/leave.test.ts runs it",
      "docs/limits.md (sql): it would hold for every database of the server",
      "docs/live-queries.md (js): test/clients/clients.nightly.test.ts runs examples/clients/live",
      "docs/live-queries.md (js): test/clients/clients.nightly.test.ts runs examples/clients/live",
      "docs/live-queries.md (sql): the table is an example",
      "docs/live-queries.md (sh): it goes on running",
      "docs/live-queries.md (nginx): test/live/proxies.nightly.test.ts runs nginx with it",
      "docs/live-queries.md (haproxy): test/live/proxies.nightly.test.ts runs HAProxy with it",
      "docs/logs.md (json): a line of a log; json-log.test.ts and start.test.ts of test/commands read them",
      "docs/mail-server.md (sh): a running project is needed",
      "docs/management-api.md (sh): it needs a token with another scope",
      "docs/rotate-secrets.md (sql): test/commands/rotate-secrets.test.ts takes this step",
      "docs/rotate-secrets.md (sh): it needs a database",
      "docs/run-it-on.md (sh): it needs an account at Google Cloud",
      "docs/run-it-on.md (sh): test/package/first-hour.nightly.test.ts types it",
      "docs/tracing.md (sh): jq is another program",
      "docs/tracing.md (sh): it goes on running; test/traces/exported-spans.test.ts sends to a collector",
      "docs/tracing.md (sh): it needs a container engine",
      "docs/tracing.md (ini): it is a setting of the server",
      "docs/trusted-documents.md (sh): it goes on running; test/http/trusted-documents.test.ts starts gateways with it",
    ]
  `);
});

test('the index names every page for users', () => {
  const index = readFileSync(join(root, 'docs/README.md'), 'utf8');
  // Which tests there are is for those who change the code; the package has none.
  const pages = names.filter((name) => name !== 'README.md');
  expect(pages.filter((name) => !index.includes(`](${name})`))).toEqual([]);
});
