/**
 * Drafts of emails that are short and take long to read. Whoever may look at the configuration may have one rendered, and all
 * requests of the process wait for it.
 */
import { beforeAll, expect, test } from 'vitest';
import { emailKindNames } from '../../src/config/auth/email-kinds.ts';
import type { Config } from '../../src/config/config.ts';
import { processorMs } from '../../src/management/templates/rendering-time.ts';
import { addToken, type ManagedGateway, managedGateway, ref } from '../management/management.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let managed: ManagedGateway;

beforeAll(async () => {
  database = await createAuthDatabase();
});

async function serve(given: Partial<Config> = {}): Promise<void> {
  managed = await managedGateway(database, await addToken(database, { scopes: ['auth_config:read'] }), given);
}

/** Has a draft rendered. */
const render = (content: string, bearer?: string) =>
  managed.call({
    method: 'POST',
    path: `/v1/projects/${ref}/config/auth/emails/render`,
    body: JSON.stringify({ email: 'recovery', content }),
    ...(bearer !== undefined && { token: `Bearer ${bearer}` }),
  });

const expensive: Readonly<Record<string, string>> = {
  'template literals in each other': `<script>${'`${'.repeat(60_000)}`,
  'template literals in each other in an attribute': `<p onclick="${'`${'.repeat(60_000)}`,
  'variables of the same name': `${'{{$a:=1}}'.repeat(50_000)}{{$z:=1}}${'{{$z}}'.repeat(80_000)}`,
  'a long text in many contexts': `{{define "t"}}${'"" '.repeat(100_000)}{{end}}<script>\`\${ ${'{ {{template "t"}} '.repeat(20_000)}`,
};

/** A program that reads a run of characters again from each of them would take minutes, or years. */
const runs: Readonly<Record<string, string>> = {
  'blanks behind href=': `<a href=${' '.repeat(100_000)}R {{ .Missing }}>x</a>`,
  'blanks in a condition': `{{ if and .Email${' '.repeat(100_000)} .SiteURL }}{{ .Token }}{{ else }}x{{ end }}`,
  'blanks in the type of a script': `<script type="x${' '.repeat(100_000)}y">1</script>`,
  'names in a placeholder': `%a${'_a'.repeat(40)}`,
};

test.each(Object.keys(runs))('a draft with many %s is parsed in linear time', async (name) => {
  await serve();
  const startMs = processorMs();
  const reply = await render(`{{ .Token }}${runs[name]} %user_name_%`);
  expect(processorMs() - startMs).toBeLessThan(3000);
  const { fault, warnings } = reply.body.content as { fault: unknown; warnings: readonly { message: string }[] };
  expect(fault).toBeNull();
  expect(warnings.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('%user_name_% is a placeholder'),
  );
});

test('a draft with a long malformed number is refused in linear time', async () => {
  await serve();
  const startMs = processorMs();
  const reply = await render(`{{ print ${'0'.repeat(100_000)}e }}`);
  expect(processorMs() - startMs).toBeLessThan(3000);
  expect(reply.body.content.fault.message).toContain('illegal number syntax');
});

test.each(Object.keys(expensive))('a draft of %s ends with the fault parse_limit', async (name) => {
  await serve();
  expect(await render(expensive[name]!)).toMatchObject({
    status: 200,
    body: { content: { output: null, fault: { code: 'parse_limit' } } },
  });
});

test('a token whose drafts have taken their processor time waits, and others do not', async () => {
  await serve({ managementRateLimit: 1 });
  const other = await addToken(database, { scopes: ['auth_config:read'] });
  expect(await render(tooSlow)).toMatchObject({ status: 200, body: { content: { fault: { code: 'time_limit' } } } });
  const { status, body: refusal, headers } = await render(tooSlow);
  const message = expect.stringContaining('drafts of 250 ms of processor time a minute for an access token');
  expect([status, refusal.message]).toEqual([429, message]);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await render(tooSlow, other)).toMatchObject({ status: 200 });
});

const tooSlow = `{{ range $i := 9000 }}${'{{ $wide := printf "%2000d" $i }}'.repeat(50)}{{ end }}`;

const slow = '{{ range $i := 9000 }}{{ printf "%2000d" $i | len }}{{ end }}';

test('a change of all emails in twenty languages that takes long to check is refused as a whole at the time limit', async () => {
  managed = await managedGateway(database, await addToken(database));
  const translations = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`de-x-${at}`, { content: slow }]));
  const change = emailKindNames.map((email) => [`mailer_templates_${email}_translations`, translations]);
  const { status, body } = await managed.patch(Object.fromEntries(change));
  // A busy machine may need the time of a single template before.
  const message = expect.stringMatching(/take longer than 3000 ms to check|takes longer than 250 ms/);
  expect([status, body.message]).toEqual([400, message]);
  expect(await database.query('select from auth.pgreflect_config')).toEqual([]);
});
