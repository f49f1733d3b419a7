/**
 * Which machines the gateway calls: any that the operator names at the start, and none in private networks that a person with
 * a token of the management API names later. The damage would be a request to the machines beside the gateway.
 */

import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createConfiguredHosts } from '../../src/config/auth/configured-hosts.ts';
import type { Config } from '../../src/config/config.ts';
import { createEgress } from '../../src/shared/egress/egress.ts';
import { addToken, type ManagedGateway, managedGateway } from '../management/management.ts';
import { anonKey } from '../support/http.ts';
import { createAuthDatabase } from '../support/postgres.ts';

const secrets = `v1,whsec_${'a'.repeat(44)}`;

/** Something beside the gateway that counts who comes. */
async function neighbour(): Promise<{ readonly port: number; readonly visits: () => number }> {
  let visits = 0;
  const server = createServer((_request, response) => response.setHeader('content-type', 'application/json').end('{}'));
  server.on('connection', () => (visits += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return { port: (server.address() as AddressInfo).port, visits: () => visits };
}

function hookAt(address: string) {
  return {
    hook_before_user_created_enabled: true,
    hook_before_user_created_uri: address,
    hook_before_user_created_secrets: secrets,
  };
}

const database = await createAuthDatabase();
const token = await addToken(database);

async function started(given: Partial<Config> = {}): Promise<ManagedGateway> {
  await database.query('truncate auth.pgreflect_config, auth.pgreflect_config_versions');
  await database.query('delete from auth.users');
  return managedGateway(database, token, given);
}

/** With a database of its own, which those beside it leave alone. */
async function startedApart(): Promise<ManagedGateway> {
  const own = await createAuthDatabase();
  return managedGateway(own, await addToken(own));
}

function askAuth({ gateway }: ManagedGateway, path: string, body?: object): Promise<Response> {
  return fetch(`${gateway.url}/auth/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { apikey: anonKey },
    redirect: 'manual',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

const signUp = (managed: ManagedGateway) => askAuth(managed, '/signup', { email: 'a@x.test', password: 'a good one' });

describe('an address that the management API has stored', () => {
  test('an address that the management API has stored leads no hook to a private network, however it is spelt', async () => {
    const addresses = ['localhost', '0x7f.1', '[::ffff:127.0.0.1]'];
    // Each waits for the hook to be tried again.
    const ends = addresses.map(async (host) => {
      const [{ port, visits }, managed] = await Promise.all([neighbour(), startedApart()]);
      const { status } = await managed.patch(hookAt(`http://${host}:${port}`));
      const signedUp = status === 200 && (await signUp(managed)).ok;
      return { host, isKnown: [200, 400].includes(status), signedUp, visits: visits() };
    });
    expect(await Promise.all(ends)).toEqual(
      addresses.map((host) => ({ host, isKnown: true, signedUp: false, visits: 0 })),
    );
  });

  test('an address that the management API has stored leads neither a provider, an ID token nor a text message there', async () => {
    const { port, visits } = await neighbour();
    const address = `http://127.0.0.1:${port}`;
    const managed = await started();
    const stored = await managed.patch({
      external_keycloak_enabled: true,
      external_keycloak_url: address,
      external_keycloak_client_id: 'app',
      external_keycloak_secret: 'x',
      external_allowed_id_token_issuers: `${address} app`,
      site_url: 'https://x.test',
      external_phone_enabled: true,
      sms_provider: 'webhook',
      sms_webhook_url: address,
      sms_webhook_secrets: secrets,
    });
    expect(stored.body).toMatchObject({ external_keycloak_url: address });
    await askAuth(managed, '/authorize?provider=keycloak');
    const id_token = 'eyJhbGciOiJSUzI1NiJ9.e30.x';
    await askAuth(managed, '/token?grant_type=id_token', { id_token, issuer: address, client_id: 'app' });
    await askAuth(managed, '/otp', { phone: '4915112345678' });
    expect(visits()).toBe(0);
  });

  test('an address that the management API has stored sends no email there', async () => {
    let visits = 0;
    const server = createSocketServer((socket) => {
      visits += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const trial = { email: 'recovery', subject: 'x', content: '<p>x</p>', to: 'a@x.test' };
    const send = ({ call, gateway: _ }: ManagedGateway) =>
      call({
        method: 'POST',
        path: `/v1/projects/abcdefghijklmnopqrst/config/auth/emails/send`,
        body: JSON.stringify(trial),
      });
    const smtp = { smtp_host: 'localhost', smtp_port: String(port), smtp_admin_email: 'us@x.test' };
    const managed = await started();
    expect((await managed.patch(smtp)).status).toBe(200);
    expect((await send(managed)).body.message).toContain('is unreachable');
    expect(visits).toBe(0);
    // The same of the operator is reached.
    await send(await started({ authValues: smtp }));
    expect(visits).toBeGreaterThan(0);
  });

  test.each([
    ['the option allows it', { allowPrivateNetworks: true }],
    ['the start values name that host and port', null],
  ])('an address that the management API has stored may be private where %s', async (_where, given) => {
    const { port, visits } = await neighbour();
    const address = `http://127.0.0.1:${port}`;
    const managed = await started(given ?? { authValues: hookAt(`${address}/started`) });
    expect((await managed.patch(hookAt(`${address}/stored`))).status).toBe(200);
    expect((await signUp(managed)).status).toBe(200);
    expect(visits()).toBe(1);
  });
});

describe('who may be called', () => {
  const egress = createEgress(createConfiguredHosts(() => ({ smtp_host: 'Mail.internal', smtp_port: '25' })));

  test.each([
    '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.31.0.1', '192.168.1.1', '198.18.0.1', '224.0.0.1',
    '255.255.255.255', '0.0.0.0', '::', '::1', '::ffff:10.0.0.1', '64:ff9b::a00:1', 'fc00::1', 'fd00:ec2::254', 'fe80::1',
    'ff02::1', '2001::1', '2002:a00:1::1', '2001:db8::1',
  ])('not %s', async (address) => {
    await expect(egress.resolve(address, 25)).rejects.toThrow('is in a private network');
  }); // biome-ignore format: a list

  test.each(['8.8.8.8', '172.32.0.1', '192.167.255.255', '2606:4700::1111', '2a00::1'])(
    'an address may be called: %s',
    async (address) => {
      expect(await egress.resolve(address, 25)).toBe(address);
    },
  );

  test('the mail server of the start values at its port, by whatever case', async () => {
    expect(await egress.resolve('mail.internal', 25)).toBe('mail.internal');
    await expect(egress.resolve('localhost', 25)).rejects.toThrow('is in a private network');
  });
});
