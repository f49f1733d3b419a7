/** Requests to other machines behind a proxy, with the variables that curl and others read. */
import { createHook } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { loadServeOptions } from '../../src/config/load-config.ts';
import { createEgress } from '../../src/shared/egress/egress.ts';
import { tlsFixture } from '../support/encrypted-server.ts';

const read = (name: string) => readFileSync(tlsFixture(name));

async function listen(answer: RequestListener, isEncrypted = false) {
  const server = isEncrypted
    ? createTlsServer({ cert: read('server.pem'), key: read('server-key.pem') }, answer)
    : createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return { server, port: (server.address() as AddressInfo).port };
}

/** A proxy that leads every name to this machine, and keeps what it was asked for. */
async function startProxy() {
  const asked: string[] = [];
  const { server, port } = await listen((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    response.end('from the proxy');
  });
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    const target = connect(Number(request.url!.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    target.on('error', () => socket.destroy());
    socket.on('error', () => target.destroy());
  });
  return { asked, host: `127.0.0.1:${port}`, address: `http://127.0.0.1:${port}` };
}

const ask = async (url: string, environment: Record<string, string>, hosts: (() => Set<string>) | null = null) =>
  (await createEgress(hosts, environment).fetchFor(url)(url)).text();

test('a proxy is used with or without its scheme and with a login, and by lower-case names first', async () => {
  const { asked, host } = await startProxy();
  expect(await ask('http://hook.test/a?b', { HTTP_PROXY: host })).toBe('from the proxy');
  await ask('http://hook.test/c', { http_proxy: `http://us:secret@${host}`, HTTP_PROXY: 'http://127.0.0.1:1' });
  const login = Buffer.from('us:secret').toString('base64');
  expect(asked).toEqual(['GET http://hook.test/a?b', `GET http://hook.test/c Basic ${login}`]);
});

test('a proxy passes TLS on, and the certificate is checked behind it', async () => {
  const { asked, address } = await startProxy();
  const { port } = await listen((_request, response) => response.end(), true);
  const answer = ask(`https://hook.test:${port}/`, { https_proxy: address });
  // It is one for another name, by an authority that other tests may have made this process trust.
  const code = expect.stringMatching(/^UNABLE_TO_VERIFY_LEAF_SIGNATURE$|^ERR_TLS_CERT_ALTNAME_INVALID$/);
  await expect(answer).rejects.toMatchObject({ code });
  expect(asked).toEqual([`CONNECT hook.test:${port}`]);
});

test('a proxy is left out for this machine, and for what NO_PROXY names', async () => {
  const { asked, address } = await startProxy();
  const { port } = await listen((_request, response) => response.end('from the machine'));
  for (const name of ['127.0.0.1', 'localhost'])
    expect(await ask(`http://${name}:${port}/`, { http_proxy: address })).toBe('from the machine');
  for (const no_proxy of ['.hook.test', 'other.test, my.hook.test', '*'])
    await expect(ask('http://my.hook.test/', { http_proxy: address, no_proxy })).rejects.toMatchObject({
      code: 'ENOTFOUND',
    });
  expect(asked).toEqual([]);
});

test('a proxy leads no address that the management API has stored to a private network', async () => {
  const { asked, address } = await startProxy();
  for (const url of ['http://127.0.0.1:9/', 'http://10.0.0.1/', 'http://localhost/', 'http://[::1]/'])
    await expect(ask(url, { http_proxy: address }, () => new Set())).rejects.toMatchObject({ code: 'EPRIVATE' });
  expect(asked).toEqual([]);
  expect(await ask('http://hook.test/', { http_proxy: address }, () => new Set())).toBe('from the proxy');
});

test('a proxy may be in a private network, and a host is looked up once for many requests through it', async () => {
  const { asked, address } = await startProxy();
  const environment = { http_proxy: address.replace('127.0.0.1', 'localhost') };
  expect(await ask('http://hook.test/', environment, () => new Set())).toBe('from the proxy');
  let lookUps = 0;
  const hook = createHook({
    init: (_id, type) => {
      if (type === 'GETADDRINFOREQWRAP') lookUps += 1;
    },
  }).enable();
  onTestFinished(() => void hook.disable());
  for (let round = 0; round < 3; round += 1) await ask('http://often.test/', { http_proxy: address }, () => new Set());
  expect(asked).toHaveLength(4);
  expect(lookUps).toBe(1);
});

test('a proxy that is none over HTTP is named at the start', () => {
  const environment = { HTTPS_PROXY: 'socks5://proxy.test:1080', http_proxy: 'proxy.test:3128' };
  const sources = { flags: new Map(), authFlags: new Map(), configFile: null, workingDirectory: '/', problems: [] };
  expect(loadServeOptions({ ...sources, environment }).warnings).toEqual([
    'HTTPS_PROXY is not the address of an HTTP proxy, so requests to other machines go without one.',
  ]);
});
