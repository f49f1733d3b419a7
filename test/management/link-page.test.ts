/**
 * The template of the page that asks before an emailed link is used, in the management API.
 */
import { beforeAll, expect, test } from 'vitest';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { addToken, type ManagedGateway, managedGateway } from './management.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const field = 'mailer_templates_link_page_content';
const serve = async (): Promise<ManagedGateway> => managedGateway(database, await addToken(database));

test('the built-in page is answered where none is set, and may be stored as it is', async () => {
  const managed = await serve();
  const { body } = await managed.patch({});
  expect(body).toMatchObject({ mailer_link_confirmation: 'direct', [field]: expect.stringContaining('{{ .Button }}') });
  const stored = await managed.patch({ [field]: body[field] });
  expect([stored.status, stored.headers.get('x-template-warnings')]).toEqual([200, null]);
});

test.each([
  ['<p>\n{{ if }}', 'line 2, column 7: missing value for if'],
  ['<p>Press</p>', 'it must use {{ .Button }} exactly once, and uses it 0 times'],
  ['{{ if eq .Action "invite" }}{{ .Button }}{{ end }}{{ .Button }}', 'and uses it 2 times'],
  ['<a href="{{ .Button }}">x</a>', 'it must use {{ .Button }} as text between tags'],
  ['<!-- {{ .Button }} -->', 'and uses it 0 times'],
  ['<noscript><p>{{ .Button }}</noscript>', 'must not use {{ .Button }} in <noscript>, where readers do not see it'],
  ['<TEMPLATE id="a>b" ><div>{{ .Button }}</div></template>', 'must not use {{ .Button }} in <template>'],
  ['<select><option>{{ .Button }}</option></select>', 'must not use {{ .Button }} in <select>'],
  ['<svg><foreignObject>{{ .Button }}</foreignObject></svg>', 'must not use {{ .Button }} in <svg>'],
  ['{{ if eq .Action "invite" }}<iframe>{{ end }}{{ .Button }}', 'must not use {{ .Button }} in <iframe>'],
  ['{{ range $i := 100000 }}{{ end }}{{ .Button }}', ''],
])('a page that would not work is refused: %s', async (text, why) => {
  const { status, body } = await (await serve()).patch({ [field]: text });
  expect([status, body.message.startsWith(`${field}: `), body.message]).toEqual([
    400,
    true,
    expect.stringContaining(why),
  ]);
});

test.each(['noscript', 'template', 'select', 'svg'])('a closed <%s> before the button is accepted', async (name) => {
  const { status } = await (await serve()).patch({ [field]: `<${name}><p></p></${name}>{{ .Button }}` });
  expect(status).toBe(200);
});

test('a variable that the page does not have is a warning', async () => {
  const { status, headers } = await (await serve()).patch({ [field]: '{{ .Token }}{{ .Button }}' });
  expect([status, headers.get('x-template-warnings')]).toEqual([
    ...[200, expect.stringContaining(`${field}: line 1, column 4: .Token is always empty on this page`)],
  ]);
});
