/**
 * Sheds load: refuses requests that would wait for the database in vain, before reading their body.
 *
 * If the socket's caller is known, it refuses on arrival, before the framework; otherwise after authentication.
 * Measured: with the framework and a log line, a refusal costs as much as serving a small request, and an overloaded
 * gateway would spend most of its time on refusals.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { PublicError } from '../../shared/errors.ts';
import type { Identity } from '../caller/authenticate.ts';
import { countedAs, createClientAddress } from '../caller/client-address.ts';
import type { CallerMemory } from '../caller/remember-callers.ts';
import { errorAnswer } from '../server/error-body.ts';
import { answerTypeOf } from '../server/media-types.ts';
import type { Hook, HttpParts } from '../server/parts.ts';
import { graphqlPath } from '../server/paths.ts';
import { writeRawHead } from '../server/response-head.ts';
import { noStages, requestId } from '../server/track-requests.ts';
import { reportCounts } from './report-counts.ts';

const busy = new PublicError('UNAVAILABLE', 'All database connections are busy. Try again in a moment.');
const { status, code, body } = errorAnswer(busy);
const bytes = Buffer.byteLength(body);
const codes = [code];
const stages = { authenticateMs: 0, ...noStages };
const answer = { executed: false, codes, operationName: null, documentHash: null, stages: noStages };

/** Whether to refuse a request of this caller; counts a refusal. */
type Shed = (identity: Identity, address: string | null) => boolean;

/** The queue for database connections decides which requests are refused. */
export function createShedding({ executor, observe }: Pick<HttpParts, 'executor' | 'observe'>): Shed {
  const note = reportCounts((count) => observe({ kind: 'requests_shed', count }));
  return ({ role, subject }, address) => {
    if (executor.admits(role, countedAs(subject, address))) return false;
    note();
    return true;
  };
}

/** The refusing hook; it runs after authentication. */
export function refuseWhenKnown(shed: Shed, { config }: HttpParts): Hook {
  const isPlain = config.corsOrigins === '*';
  return ({ id, state, raw }, reply, done) => {
    if (state.identity === null || !shed(state.identity, state.address)) return done();
    state.shed = true;
    if (!isPlain) return done(busy);
    state.answer = answer;
    state.bytes = bytes;
    reply.hijack();
    refuse(raw, reply.raw, id);
  };
}

type Listener = (raw: IncomingMessage, response: ServerResponse) => void;

/**
 * Refuses before the framework, which gets all other requests. If headers depend on the page's origin, the framework
 * must answer.
 */
export function refuseOnArrival(
  server: Server,
  shed: Shed,
  { config, observe, callers }: Pick<HttpParts, 'config' | 'observe'> & { readonly callers: CallerMemory },
): void {
  if (config.corsOrigins !== '*') return;
  const addressOf = createClientAddress(config.trustedProxies);
  const refused = (raw: IncomingMessage): Identity | null => {
    if (raw.url !== graphqlPath || raw.method !== 'POST') return null;
    const identity = callers.recall(raw);
    return identity !== null && shed(identity, addressOf(raw)) ? identity : null;
  };
  const [framework] = server.listeners('request') as Listener[];
  server.removeAllListeners('request').on('request', (raw, response) => {
    const startedAt = performance.now();
    const identity = refused(raw);
    if (identity === null) return framework?.(raw, response);
    const id = requestId(raw.headers['x-request-id']);
    refuse(raw, response, id);
    observe({
      kind: 'request',
      requestId: id,
      method: 'POST',
      path: graphqlPath,
      route: graphqlPath,
      status,
      address: addressOf(raw),
      role: identity.role,
      operationName: null,
      documentHash: null,
      codes,
      stages,
      totalMs: performance.now() - startedAt,
      bytes,
      aborted: false,
      shed: true,
      fromStudio: false,
    });
  });
}

function refuse({ headers }: IncomingMessage, response: ServerResponse, id: string): void {
  const wished = answerTypeOf(headers.accept);
  const type = wished === 'application/graphql-response+json' ? wished : 'application/json';
  writeRawHead(response, status, { id, type, bytes });
  response.end(body);
}
