/**
 * Refuses requests that would wait for the database in vain, before their body is read.
 *
 * Whose caller is known from the request before on the same socket is refused on arrival, before the framework has seen the
 * request, the others when their caller has been found. Measured: on the framework's way, and with a line in the log, a refusal
 * costs as much as serving a small request, and then a gateway that is asked for twice what it can do would spend most of its
 * time on refusing.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { PublicError } from '../../shared/errors.ts';
import type { Identity } from '../caller/authenticate.ts';
import { countedAs, createClientAddress } from '../caller/client-address.ts';
import type { CallerMemory } from '../caller/remember-callers.ts';
import { errorAnswer } from '../server/error-body.ts';
import { answerTypeOf } from '../server/media-types.ts';
import { graphqlPath, type Hook, type HttpParts } from '../server/parts.ts';
import { reportCounts } from '../server/report-counts.ts';
import { writeRawHead } from '../server/response-head.ts';
import { noStages, requestId } from '../server/track-requests.ts';

const busy = new PublicError('UNAVAILABLE', 'All database connections are busy. Try again in a moment.');
const { status, code, body } = errorAnswer(busy);
const bytes = Buffer.byteLength(body);
const codes = [code];
const stages = { authenticateMs: 0, ...noStages };
const answer = { executed: false, codes, operationName: null, documentHash: null, stages: noStages };

/** Whether a request of this caller has to be refused; it is counted then. */
export type Shed = (identity: Identity, address: string | null) => boolean;

/** Who is served and who is refused is decided by the queue for connections to the database. */
export function createShedding({ executor, observe }: Pick<HttpParts, 'executor' | 'observe'>): Shed {
  const note = reportCounts((count) => observe({ kind: 'requests_shed', count }));
  return ({ role, subject }, address) => {
    if (executor.admits(role, countedAs(subject, address))) return false;
    note();
    return true;
  };
}

/** The hook that refuses; it runs when the caller is known. */
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
 * Refuses in front of the framework, which gets every request that is not refused here. Where answers depend on the origin of
 * the page, the framework has to make them.
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
      ...{ kind: 'request', requestId: id, method: 'POST', path: graphqlPath, route: graphqlPath, status },
      ...{ address: addressOf(raw), role: identity.role, operationName: null, documentHash: null, codes, stages },
      ...{ totalMs: performance.now() - startedAt, bytes, aborted: false, shed: true, fromStudio: false },
    });
  });
}

function refuse({ headers }: IncomingMessage, response: ServerResponse, id: string): void {
  const wished = answerTypeOf(headers.accept);
  const type = wished === 'application/graphql-response+json' ? wished : 'application/json';
  writeRawHead(response, status, { id, type, bytes });
  response.end(body);
}
