/**
 * The templates of a project whose server is somebody else's: a checkout names it together with a token, or it was taken over. Who pulls
 * from it gets files in their directory of templates alone, and nothing of it commands their terminal.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCommand, temporaryDirectory } from '../commands/run-command.ts';

const ref = 'abcdefghijklmnopqrst';

/** A checkout that names a server, which answers every request with this configuration. */
async function checkout(config: object, status = 200): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(config));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const directory = join(temporaryDirectory(), 'checkout');
  mkdirSync(directory);
  const { port } = server.address() as AddressInfo;
  const options = [`external_url = "http://127.0.0.1:${port}"`, `project_ref = "${ref}"`, 'access_token = "sbp_x"'];
  writeFileSync(join(directory, 'pgreflect.toml'), options.join('\n'));
  return directory;
}

test.each([
  { mailer_partials: { '../../index': 'forged' } },
  { mailer_partials: { '../index': 'forged' } },
  { mailer_templates_invite_translations: { '../../index': { content: 'forged' } } },
  { mailer_templates_invite_translations: { de: { '../../index': 'forged' } } },
])('pulling writes no file outside its directory: %j', async (config) => {
  const directory = await checkout(config);
  await runCommand(['templates', 'pull'], { directory });
  expect(readdirSync(join(directory, '..'))).toEqual(['checkout']);
  expect(readdirSync(directory).sort()).toEqual(
    existsSync(join(directory, 'templates')) ? ['pgreflect.toml', 'templates'] : ['pgreflect.toml'],
  );
});

const commands = 'x\u001b]52;c;ZXZpbA==\u0007\u001b[2K\r\u009b2Ky';

test('a difference from a text of the server has no commands for the terminal', async () => {
  const directory = await checkout({ mailer_templates_invite_content: `<p>${commands}</p>\n` });
  mkdirSync(join(directory, 'templates'));
  writeFileSync(join(directory, 'templates', 'invite.html'), '<p>mine</p>\n');
  const { out, err } = await runCommand(['templates', 'diff'], { directory });
  expect(out).toContain('-<p>x\\u001b]52;c;');
  expect((out + err).replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
});

test('a message of the server has no commands for the terminal either', async () => {
  const directory = await checkout({ message: commands }, 403);
  const { code, out, err } = await runCommand(['templates', 'pull'], { directory });
  expect([code, err]).toEqual([1, expect.stringContaining('x\\u001b]52;c;')]);
  expect((out + err).replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
});
