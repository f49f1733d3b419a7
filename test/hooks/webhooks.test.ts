/**
 * Hooks that are webhooks: signed requests, what their answers mean, and every way in which they can fail to give one.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createHooks } from '../../src/auth/hooks/call-hook.ts';
import { webhookLimits } from '../../src/auth/hooks/post-webhook.ts';
import { layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import { systemClock } from '../../src/shared/clock.ts';
import type { Observation } from '../../src/shared/observation.ts';
import { hookSecret, startHookServer } from '../support/hook-server.ts';

/** Nothing here waits longer than it must. */
const quick = { ...webhookLimits, pauseMs: 1 };

function askAt(url: string, { limits = quick, secrets = hookSecret, payload = { a: 1 } as unknown } = {}) {
  const observations: Observation[] = [];
  const database = { transaction: () => Promise.reject(new Error('a webhook needs no database')) };
  const observe = (observation: Observation) => {
    if (observation.kind !== 'external_call') observations.push(observation);
  };
  const hooks = createHooks({ database, clock: systemClock, observe, limits: { webhook: limits } });
  const config = layerAuthConfig({
    hook_send_sms_enabled: true,
    hook_send_sms_uri: url,
    hook_send_sms_secrets: secrets,
  });
  const answer = hooks.ask(null, { name: 'send_sms', config, payload });
  return { answer, observations };
}

test('a request is signed JSON, and its answer is an object', async () => {
  const server = await startHookServer();
  server.answer({ body: { ok: true } });
  expect(await askAt(`${server.url}/sms?tenant=1`).answer).toEqual({ ok: true });
  const [request] = server.requests;
  expect(request).toMatchObject({ path: '/sms?tenant=1', payload: { a: 1 } });
  expect(request?.headers['webhook-id']).toMatch(/^msg_[0-9a-f-]{36}$/);
  expect(server.unsigned).toEqual([]);
});

test('several secrets sign a request, so that a receiver can change to the new one at its time', async () => {
  const another = `v1,whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const [before, after] = [await startHookServer(hookSecret), await startHookServer(another)];
  for (const { url } of [before, after]) await askAt(url, { secrets: `${another}|${hookSecret}` }).answer;
  expect([before.requests.length, after.requests.length]).toEqual([1, 1]);
  const third = await startHookServer(`v1,whsec_${Buffer.alloc(32, 8).toString('base64')}`);
  await expect(askAt(third.url, { secrets: `${another}|${hookSecret}` }).answer).rejects.toMatchObject({
    message: 'Hook requires authorization token',
  });
  expect(third.unsigned).toEqual(['{"a":1}']);
});

test.each([
  ['no content', { status: 204 }, {}],
  ['an empty body', { body: '' }, {}],
  ['null', { body: 'null' }, {}],
  ['an error without anything in it', { body: { error: {} } }, { error: {} }],
  [
    'accepted',
    { status: 202, body: { a: 1 }, headers: { 'content-type': 'Application/JSON; charset=utf-8' } },
    { a: 1 },
  ],
])('%s is an answer', async (_, reply, expected) => {
  const server = await startHookServer();
  server.answer(reply);
  const { answer, observations } = askAt(server.url);
  expect(await answer).toEqual(expected);
  expect(observations).toEqual([]);
});

test.each([
  [
    { http_code: 403, message: 'Not you' },
    { code: 'unknown', status: 403, message: 'Not you' },
  ],
  [{ message: 'Not you' }, { code: 'unexpected_failure', status: 500, message: 'Not you' }],
  [{ http_code: 429 }, { code: 'unknown', status: 429, message: 'Refused by a hook' }],
  [
    { http_code: 200, message: 'No' },
    { code: 'unexpected_failure', status: 500, message: 'No' },
  ],
])('the error %j is a refusal in the words of the hook, and no failure of it', async (error, expected) => {
  const server = await startHookServer();
  server.answer({ body: { error } });
  const { answer, observations } = askAt(server.url);
  await expect(answer).rejects.toMatchObject({ name: 'HookError', ...expected });
  expect(observations).toEqual([]);
});

const failures = [
  ['a failing server', { status: 500 }, 500, 'Unexpected status code returned from hook: 500', 'it answered 500'],
  ['a server that wants other JSON', { status: 400 }, 500, 'Invalid payload sent to hook', 'it answered 400'],
  ['a redirect', { status: 307, headers: { location: '/other' } }, 500, /status code .* 307/, 'it answered 307'],
  ['a server that is busy for good', { status: 503 }, 500, /unavailable due to hook/, 'it answered 503'],
  ['no JSON', { body: '{', headers: {} }, 500, /unmarshaling JSON/, 'its answer is not JSON'],
  ['a list', { body: [1] }, 500, /unmarshaling JSON/, 'its answer is not a JSON object'],
  ['an error that is a text', { body: { error: 'no' } }, 500, /unmarshaling/, /"error" of its answer/],
  ['a web page', { body: '<p>', headers: { 'content-type': 'text/html' } }, 400, /^Invalid JSON/, /not application\/json/],
] as const; // biome-ignore format: a table

test.each(failures)('%s is a failure, and the log says which', async (_, reply, status, message, reason) => {
  const server = await startHookServer();
  server.answer(reply);
  const { answer, observations } = askAt(server.url);
  await expect(answer).rejects.toMatchObject({ status, message: expect.stringMatching(message) });
  expect(observations).toEqual([{ kind: 'hook_failed', hook: 'send_sms', reason: expect.stringMatching(reason) }]);
  expect(server.requests).toHaveLength(1);
});

test('a server that never answers is waited for until the limit', async () => {
  const server = await startHookServer();
  server.answer(null);
  const { answer, observations } = askAt(server.url, { limits: { ...quick, timeoutMs: 100 } });
  const message = 'Failed to reach hook within maximum time of 0.1 seconds';
  await expect(answer).rejects.toMatchObject({ code: 'hook_timeout', status: 422, message });
  expect(observations).toMatchObject([{ reason: 'no answer within 100 ms' }]);
});

test('an answer that never ends is read until the limit of time, and one that is huge until that of size', async () => {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (request.url === '/slow') return void response.write('{');
    const write = (): unknown => response.write('x'.repeat(65_536)) && setImmediate(write);
    response.on('drain', write);
    write();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await expect(askAt(`${url}/slow`, { limits: { ...quick, timeoutMs: 100 } }).answer).rejects.toMatchObject({
      code: 'hook_timeout',
    });
    await expect(askAt(`${url}/huge`).answer).rejects.toMatchObject({
      code: 'hook_payload_over_size_limit',
      status: 422,
      message: 'Payload size exceeded size limit of 204800 bytes',
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('a payload over the limit is not sent', async () => {
  const server = await startHookServer();
  const payload = { text: 'x'.repeat(webhookLimits.maxRequestBytes) };
  await expect(askAt(server.url, { payload }).answer).rejects.toMatchObject({ code: 'hook_payload_over_size_limit' });
  expect(server.requests).toEqual([]);
});

test('a busy server is asked again when it says so, with the same id, three times at most', async () => {
  const server = await startHookServer();
  server.answer(() =>
    server.requests.length < 3 ? { status: 429, headers: { 'retry-after': '0' } } : { body: { a: 1 } },
  );
  expect(await askAt(server.url).answer).toEqual({ a: 1 });
  expect(new Set(server.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  server.answer({ status: 503, headers: { 'retry-after': 'true' } });
  const { answer, observations } = askAt(server.url);
  await expect(answer).rejects.toMatchObject({
    code: 'hook_timeout_after_retry',
    status: 422,
    message: 'Failed to reach hook after maximum retries',
  });
  expect(server.requests).toHaveLength(6);
  expect(observations).toMatchObject([{ reason: 'it answered 503, after attempt 3' }]);
});

test('nobody waits for a server that wants to be asked again after the limit', async () => {
  const server = await startHookServer();
  const later = new Date(Date.now() + 60_000).toUTCString();
  for (const retryAfter of ['6', later]) {
    server.answer({ status: 429, headers: { 'retry-after': retryAfter } });
    await expect(askAt(server.url).answer).rejects.toMatchObject({ code: 'hook_timeout_after_retry' });
  }
  expect(server.requests).toHaveLength(2);
});

test('a server that is away is tried again, and no address is in what is said of it', async () => {
  const gone = await startHookServer();
  await gone.stop();
  const { answer, observations } = askAt(`${gone.url}/token-in-path`);
  await expect(answer).rejects.toMatchObject({ code: 'hook_timeout_after_retry', status: 422 });
  expect(observations).toEqual([
    { kind: 'hook_failed', hook: 'send_sms', reason: 'it cannot be reached, after attempt 3' },
  ]);
});

test.each([
  ['ftp://x.test/', hookSecret, /^hook_send_sms_uri must be pg-functions:/],
  ['https://x.test/', 'whsec_leak', /^hook_send_sms_secrets must be secrets of the form/],
])('a hook that cannot be asked as it is configured fails: %s', async (url, secrets, reason) => {
  const { answer, observations } = askAt(url, { secrets });
  await expect(answer).rejects.toMatchObject({ status: 500, message: 'Hook is not configured' });
  expect(observations).toMatchObject([{ reason: expect.stringMatching(reason) }]);
  expect(JSON.stringify(observations)).not.toContain('leak');
});
