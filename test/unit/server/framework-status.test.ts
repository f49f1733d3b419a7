/** An error with a status is the client's mistake only if the HTTP framework has made it. */
import { errorCodes } from 'fastify';
import { expect, test } from 'vitest';
import { frameworkStatus } from '../../../src/server/framework-status.ts';

test('the framework and its file server are trusted, and no error of somebody else', () => {
  expect(frameworkStatus(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())).toBe(413);
  const ofFile = Object.assign(new Error('Forbidden'), { status: 403, statusCode: 403, expose: true });
  expect(frameworkStatus(ofFile)).toBe(403);
  for (const fields of [{ statusCode: 413 }, { statusCode: 400, status: 400, code: 'UND_ERR_RESPONSE' }, {}])
    expect(frameworkStatus(Object.assign(new Error('of an upstream server'), fields))).toBeNull();
});
