/**
 * Read your own writes, with replicas: the answer of a mutation carries the primary's log position, in a header for
 * programs and a cookie for browsers. A query that sends it back runs on a server that has reached the position.
 *
 * The cookie lives as long as a replica may lag: after that, any replica in use has the write.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Config } from '../../config/config.ts';
import { parsePosition } from '../../postgres/wire/wal-position.ts';
import { graphqlPath } from '../../server/paths.ts';
import { positionName } from '../../server/position-name.ts';
import { PublicError } from '../../shared/errors.ts';

const cookiePattern = /(?:^|;)\s*pgreflect-lsn=([0-9A-F/]{3,17})\s*(?:;|$)/i;

/**
 * The position of the caller's last write; null: none. The newer of header and cookie counts, because another page of
 * the browser may have written later.
 *
 * @throws PublicError `BAD_REQUEST` for a malformed header. A malformed cookie is ignored, because a user often cannot
 *   change it.
 */
export function readPosition(headers: IncomingHttpHeaders): bigint | null {
  const fromHeader = readHeader(headers[positionName]);
  const [, text = ''] = cookiePattern.exec(headers.cookie ?? '') ?? [];
  const fromCookie = parsePosition(text);
  return fromHeader === null || (fromCookie !== null && fromCookie > fromHeader) ? fromCookie : fromHeader;
}

function readHeader(value: string | readonly string[] | undefined): bigint | null {
  if (value === undefined) return null;
  const position = parsePosition(String(value));
  if (position !== null) return position;
  const message = `The header "${positionName}" must be a position as an answer gives it, such as "16/B374D848".`;
  throw new PublicError('BAD_REQUEST', message);
}

/** Sends the position to the caller. Pages of other origins get only the header; we do not use their cookies. */
export function writePosition({ maxReplicaLagMs, externalUrl }: Config, reply: FastifyReply, position: string): void {
  const seconds = Math.ceil(maxReplicaLagMs / 1000) + 1;
  const secure = externalUrl.startsWith('https:') ? '; Secure' : '';
  const attributes = `Path=${graphqlPath}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
  reply.header(positionName, position);
  reply.header('set-cookie', `${positionName}=${position}; ${attributes}`);
}
