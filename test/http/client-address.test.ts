/**
 * Whose request it is behind proxies: only those that `--trusted-proxies` names are believed.
 */
import { request } from 'node:http';
import { expect, test, vi } from 'vitest';
import { createClientAddress, networkOf } from '../../src/server/caller/client-address.ts';
import { anonKey, operation, testServer } from '../support/http.ts';

/** The address found for a connection from `remoteAddress` with that header. */
function find(trusted: readonly string[], remoteAddress: string | undefined, forwarded?: string): string | null {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return createClientAddress({ trustedProxies: trusted })({ headers, socket: { remoteAddress } } as never);
}

test('by default X-Forwarded-For is ignored', () => {
  expect(find([], '10.0.0.1', '192.0.2.1')).toBe('10.0.0.1');
});

test('the right-most address that is no trusted proxy is the client', () => {
  const trusted = ['10.0.0.0/8', 'fd00::/8'];
  expect(find(trusted, '10.0.0.1', '192.0.2.1')).toBe('192.0.2.1');
  expect(find(trusted, '10.0.0.1', '192.0.2.1, fd00::7, 10.9.9.9')).toBe('192.0.2.1');
  expect(find(trusted, '192.0.2.9', '192.0.2.1')).toBe('192.0.2.9');
});

test('what the client itself sent in front of it does not count', () => {
  expect(find(['10.0.0.1'], '10.0.0.1', '127.0.0.1, garbage, 192.0.2.1')).toBe('192.0.2.1');
});

test('all proxies can be trusted', () => {
  expect(find(['0.0.0.0/0', '::/0'], '10.0.0.1', '192.0.2.1, 2001:db8::1')).toBe('192.0.2.1');
});

test('where all are trusted, the left-most address is the client', () => {
  expect(find(['10.0.0.0/8'], '10.0.0.1', '10.0.0.3, 10.0.0.2')).toBe('10.0.0.3');
});

test.each(['', 'unknown', 'a, b', '192.0.2.1:http', '999.1.1.1', 'fe80::1%eth0', "1' or '1"])(
  'a header %j without an address is ignored',
  (header) => expect(find(['10.0.0.1'], '10.0.0.1', header)).toBe('10.0.0.1'),
);

test('proxies may add ports and brackets, and IPv4 has one notation', () => {
  const trusted = ['10.0.0.1'];
  expect(find(trusted, '::ffff:10.0.0.1', '192.0.2.1:4711')).toBe('192.0.2.1');
  expect(find(trusted, '10.0.0.1', '[2001:DB8::1]:443')).toBe('2001:db8::1');
  expect(find(trusted, '10.0.0.1', '::ffff:192.0.2.1')).toBe('192.0.2.1');
  expect(find(trusted, '10.0.0.1', '::ffff:c000:201')).toBe('192.0.2.1');
  expect(find(trusted, '10.0.0.1', '2001:0db8:0:0::0001')).toBe('2001:db8::1');
});

test('a connection that is closed has no address', () => {
  expect(find(['10.0.0.1'], undefined, '192.0.2.1')).toBeNull();
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:0db8::1', '2001:db8::/64'],
  ['2001:db8::7:0:0:1', '2001:db8::/64'],
  ['::1', '::/64'],
  ['64:ff9b::c000:201', '64:ff9b::c000:201'],
  ['2001:db8:1:2:3:4:192.0.2.1', '2001:db8:1:2::/64'],
  ['', ''],
])('%s is counted as %s', (address, network) => expect(networkOf(address)).toBe(network));

test('the addresses of one IPv6 network share one rate limit', async () => {
  const server = await testServer({ rateLimit: 1, trustedProxies: ['127.0.0.1'] });
  const url = `${await server.listen()}/graphql/v1`;
  const ask = async (address: string) => {
    const headers = { apikey: anonKey, 'content-type': 'application/json', 'x-forwarded-for': address };
    return (await fetch(url, { method: 'POST', headers, body: operation('{ hello }') })).status;
  };
  expect([await ask('2001:db8::1'), await ask('2001:db8::2'), await ask('2001:db8:0:1::2')]).toEqual([200, 429, 200]);
});

test('the rate limit and the log go by it', async () => {
  const server = await testServer({ rateLimit: 1, trustedProxies: ['127.0.0.1'] });
  const url = `${await server.listen()}/graphql/v1`;
  const ask = (...forwarded: readonly string[]) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { apikey: anonKey, 'content-type': 'application/json', 'x-forwarded-for': [...forwarded] };
      request(url, { method: 'POST', headers }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end(operation('{ hello }'));
    });
  expect([await ask('192.0.2.1'), await ask('192.0.2.2'), await ask('9.9.9.9', '192.0.2.1')]).toEqual([200, 200, 429]);
  const addresses = () => server.observations.map((seen) => seen.kind === 'request' && seen.address);
  await vi.waitFor(() => expect(addresses()).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.1']));
});

test('a proxy that is not configured is warned of once, with the option to set', () => {
  const seen: unknown[] = [];
  const addressOf = createClientAddress({ trustedProxies: [] }, (observation) => seen.push(observation));
  const from = (headers: Record<string, string>) =>
    addressOf({ headers, socket: { remoteAddress: '10.0.0.1' } } as never);
  from({});
  expect(seen).toEqual([]);
  expect([from({ 'x-forwarded-for': '192.0.2.1' }), from({ 'x-forwarded-for': '192.0.2.2' })]).toEqual([
    '10.0.0.1',
    '10.0.0.1',
  ]);
  expect(seen).toMatchObject([{ kind: 'warning', hint: expect.stringContaining('--trusted-proxies') }]);
});
