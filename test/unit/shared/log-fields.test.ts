/** What every line of the log in JSON has, and how addresses of clients look in it. */
import { expect, test } from 'vitest';
import { loggingOf } from '../../../src/config/logging.ts';
import { createLogger } from '../../../src/shared/logger.ts';
import type { Observation } from '../../../src/shared/observation.ts';
import { untraced } from '../../../src/shared/trace/span.ts';
import { version } from '../../../src/shared/version.ts';
import { testConfig } from '../../support/http.ts';

type Lines = readonly Readonly<Record<string, unknown>>[];

async function linesOf(given: Parameters<typeof testConfig>[0], observations: readonly Observation[]): Promise<Lines> {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  const logger = await createLogger({ ...loggingOf(testConfig(given)), worker: 2, stream });
  for (const observation of observations) logger.observe(observation);
  return lines.map((line) => JSON.parse(line));
}

const requestFrom = (address: string | null): Observation => ({
  kind: 'request',
  requestId: 'r1',
  span: untraced.begin('GET', 'server'),
  method: 'GET',
  path: '/graphql/v1',
  route: null,
  status: 200,
  address,
  role: null,
  operationName: null,
  operationType: null,
  documentHash: null,
  codes: [],
  stages: { authenticateMs: 0, parseMs: 0, compileMs: 0, waitMs: 0, runMs: 0, serializeMs: 0 },
  attempt: null,
  totalMs: 1,
  bytes: 0,
  aborted: false,
  shed: false,
  fromStudio: false,
});
const proxyWarning: Observation = { kind: 'warning', message: 'A request has a header.', address: '192.0.2.7' };

test('every line has service, version, machine, process, worker, and its level by name', async () => {
  const [line] = await linesOf({}, [{ kind: 'stopping' }]);
  expect(line).toMatchObject({ level: 'info', service: 'pgreflect', version, pid: process.pid, worker: 2 });
  expect(line?.host).toEqual(expect.any(String));
});

test('addresses are logged as they are unless the operator says otherwise', async () => {
  const lines = await linesOf({}, [requestFrom('192.0.2.7'), proxyWarning]);
  expect(lines.map(({ address }) => address)).toEqual(['192.0.2.7', '192.0.2.7']);
});

test('hashed addresses are equal for equal ones, and cannot be found by trying all addresses', async () => {
  const asked = [
    requestFrom('192.0.2.7'),
    requestFrom('192.0.2.8'),
    requestFrom('192.0.2.7'),
    requestFrom(null),
    proxyWarning,
  ];
  const lines = await linesOf({ logAddresses: 'hashed' }, asked);
  const [first, second, again, none, warned] = lines.map(({ address }) => address);
  expect(first).toMatch(/^[0-9a-f]{16}$/);
  expect([again, warned]).toEqual([first, first]);
  expect(second).not.toBe(first);
  expect(none).toBeNull();
  expect(JSON.stringify(lines)).not.toContain('192.0.2');
  const [other] = await linesOf({ logAddresses: 'hashed', jwtSecret: 'another secret of thirty-two characters' }, [
    asked[0]!,
  ]);
  expect(other?.address).not.toBe(first);
});

test('addresses can be left out', async () => {
  const lines = await linesOf({ logAddresses: 'none' }, [requestFrom('192.0.2.7'), proxyWarning]);
  expect(JSON.stringify(lines)).not.toContain('192.0.2');
});
