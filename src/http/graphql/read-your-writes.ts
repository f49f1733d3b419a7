/**
 * Read your own writes, where there are replicas: the answer of a mutation says where the primary's log stood after it, in a
 * header for programs and in a cookie for browsers, and a query that brings it back is answered by a server that has seen it.
 *
 * The cookie lives as long as a replica may be behind: after that any replica in use has seen the write.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Config } from '../../config/config.ts';
import { parsePosition } from '../../postgres/wire/wal-position.ts';
import { PublicError } from '../../shared/errors.ts';
import { graphqlPath, positionName } from '../server/parts.ts';

const cookiePattern = /(?:^|;)\s*pgreflect-lsn=([0-9A-F/]{3,17})\s*(?:;|$)/i;

/**
 * What the request says its caller has written; null: nothing. The newer of header and cookie counts, since a page that
 * sends the one may have got the other for a later write.
 *
 * @throws PublicError `BAD_REQUEST` for a header that is no position. A cookie that is none counts as none: who has it
 *   often cannot change it.
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

/** Gives the position to the caller. Pages of other origins get it in the header alone: their cookies are not for us. */
export function writePosition({ maxReplicaLagMs, externalUrl }: Config, reply: FastifyReply, position: string): void {
  const seconds = Math.ceil(maxReplicaLagMs / 1000) + 1;
  const secure = externalUrl.startsWith('https:') ? '; Secure' : '';
  const attributes = `Path=${graphqlPath}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
  reply.header(positionName, position);
  reply.header('set-cookie', `${positionName}=${position}; ${attributes}`);
}
