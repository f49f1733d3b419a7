/**
 * Answers a batch: a JSON array of requests by the array of their answers, in order.
 *
 * One member after the other, each in a transaction of its own, so a batch never holds two connections. A member that
 * fails fails alone. The limits of cost, bytes and time hold for all members together.
 */
import type { FastifyRequest } from 'fastify';
import { parsePosition } from '../../postgres/wire/wal-position.ts';
import { toldMessages } from '../../server/recent/told-message.ts';
import type { DisconnectSignal } from '../../shared/disconnect-signal.ts';
import { type Code, errorCodes, PublicError } from '../../shared/errors.ts';
import { noStages, type Stages } from '../../shared/stopwatch.ts';
import { Utf8Text } from '../../shared/utf8-text.ts';
import { CompressedText, type Text } from '../execute/answer/compressed-text.ts';
import { toErrorEntry } from '../execute/answer/public-error.ts';
import type { BatchUse } from '../execute/batch-use.ts';
import type { Answer, GraphQLRequest, RequestContext } from '../execute/executor.ts';
import { type Batch, toRequest } from './read-request.ts';

/** Counts further requests of a caller. Rejects with PublicError `RATE_LIMITED`. */
export type CountRequests = (
  request: { readonly state: Pick<FastifyRequest['state'], 'identity' | 'address'> },
  reply: { readonly header: (name: string, value: number) => unknown },
  more: number,
) => Promise<void>;

/** Where a batch runs. */
export interface BatchPlace {
  readonly maxBatch: number;
  /** It reads the answers. */
  readonly client: DisconnectSignal;
  /** Counts the members after the first one. @throws PublicError `RATE_LIMITED` */
  readonly countMore: (more: number) => Promise<void> | undefined;
  readonly run: (request: GraphQLRequest, more: MemberContext) => Promise<MemberAnswer>;
}

type MemberContext = Pick<RequestContext, 'batch' | 'signal'> & Partial<Pick<RequestContext, 'minWalPosition'>>;

/** A finished batch. */
interface BatchAnswer {
  /** For the log: with the codes of all members. */
  readonly whole: Answer;
  /** For the client: with the code that decides the status of the response. */
  readonly answer: Answer;
}

/** Runs a batch whose caller is verified. @throws PublicError if it is too long, or the caller has sent too much. */
export async function runBatch(members: Batch, place: BatchPlace): Promise<BatchAnswer> {
  refuseLong(members.length, place.maxBatch);
  await place.countMore(members.length - 1);
  const batch: BatchUse = { startedAt: performance.now(), cost: 0, bytes: 0, ownCost: 0, isMutation: false };
  const signal = signalOf(place.client, batch);
  const bodies: Buffer[] = [];
  const answers: MemberAnswer[] = [];
  let position: string | null = null;
  for (const member of members) {
    // Nobody reads the answers; what has not begun does not begin.
    if (place.client.aborted) break;
    const seen = position === null ? {} : { minWalPosition: parsePosition(position) };
    const answer: MemberAnswer = await runMember(place, member, { batch, signal, ...seen });
    const body = takeBytes(answer.body);
    batch.bytes += body.length;
    batch.cost += batch.ownCost;
    bodies.push(body);
    answers.push(answer);
    position = answer.writtenAt ?? position;
    // Some answers, such as introspection, have reserved no memory yet.
    if (signal.hold?.(0) === false) break;
  }
  return joinAnswers(answers, bodies, position);
}

/** The client, for one member: the answers before it are still in memory. */
function signalOf(client: DisconnectSignal, batch: BatchUse): DisconnectSignal {
  return {
    get aborted() {
      return client.aborted;
    },
    hold: (bytes) => client.hold?.(batch.bytes + bytes) !== false,
    addEventListener: (type, listener) => client.addEventListener(type, listener),
    removeEventListener: (type, listener) => client.removeEventListener(type, listener),
  };
}

function refuseLong(length: number, most: number): void {
  if (most === 1) {
    const hint = 'Send the requests one by one, or start the gateway with a larger --max-batch.';
    throw new PublicError('BAD_REQUEST', 'Batches are switched off (option --max-batch).', { hint });
  }
  if (length <= most) return;
  const message = `The batch has ${length} requests, more than the limit of ${most} (option --max-batch).`;
  throw new PublicError('BAD_REQUEST', message, { hint: 'Send several batches.', extensions: { limit: 'max-batch' } });
}

type MemberAnswer = Omit<Answer, 'documentHash'>;

async function runMember({ run }: BatchPlace, member: Batch[number], more: MemberContext): Promise<MemberAnswer> {
  try {
    return await run(toRequest(member), more);
  } catch (error) {
    if (!(error instanceof PublicError)) throw error;
    return {
      body: JSON.stringify({ errors: [toErrorEntry(error)] }),
      executed: false,
      codes: [error.code],
      messages: toldMessages([error]),
      operationName: null,
      stages: noStages,
    };
  }
}

/** The bytes of an answer. Its own memory is free for the next member. */
function takeBytes(body: Text): Buffer {
  if (body instanceof Utf8Text) return body.take();
  return Buffer.from(body instanceof CompressedText ? body.toString() : body);
}

function joinAnswers(
  answers: readonly MemberAnswer[],
  bodies: readonly Buffer[],
  position: string | null,
): BatchAnswer {
  const sum = (stage: keyof Stages) => answers.reduce((total, { stages }) => total + stages[stage], 0);
  const text = Buffer.concat(bodies.flatMap((body, index) => [index === 0 ? open : comma, body]).concat(close));
  const whole: Answer = {
    body: new Utf8Text('', text, '', () => {}),
    executed: true,
    codes: answers.flatMap(({ codes }) => codes),
    messages: answers.flatMap(({ messages = [] }) => messages),
    operationName: null,
    documentHash: null,
    stages: { parseMs: sum('parseMs'), compileMs: sum('compileMs'), waitMs: sum('waitMs'), runMs: sum('runMs') },
    ...(position !== null && { writtenAt: position }),
  };
  return { whole, answer: { ...whole, codes: commonRefusal(answers) } };
}

const [open, comma, close] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];

/** The code that decides the status of the batch: of an error that refused every member, as an overload does. */
function commonRefusal(answers: readonly MemberAnswer[]): readonly Code[] {
  const [first] = answers[0]?.codes ?? [];
  // A client falls back member by member, so a malformed one has no status.
  if (first === undefined || !errorCodes[first].transport || first === 'BAD_REQUEST') return [];
  return answers.every(({ codes }) => codes.includes(first)) ? [first] : [];
}
