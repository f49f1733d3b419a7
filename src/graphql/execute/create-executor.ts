/** Makes the executor, which turns a caller's request into the body of its answer. */
import { OperationTypeNode } from 'graphql';
import type { FlightResult } from '../../postgres/wire/flight.ts';
import { toldMessages } from '../../server/recent/told-message.ts';
import { BusyTime } from '../../shared/busy-time.ts';
import { PublicError } from '../../shared/errors.ts';
import { type Stages, Stopwatch } from '../../shared/stopwatch.ts';
import { chooseDocument } from '../documents/trusted-list.ts';
import { joinTexts, type Text, textTooLarge, utf8Bytes } from './answer/compressed-text.ts';
import { committedTooLarge, toErrorEntry, toPublicError } from './answer/public-error.ts';
import type { BatchUse } from './batch-use.ts';
import { executeOperation } from './execute-operation.ts';
import type { Answer, Executor } from './executor.ts';
import type { Outcome } from './run-attempt.ts';
import type { ExecuteOptions, Execution, Written } from './run-flight.ts';

/** An executor on a pool and a reflector, which the caller owns. */
export function createExecutor(options: ExecuteOptions): Executor {
  const busy = new BusyTime();
  return {
    busyMs: () => busy.total(),
    async execute(caller, named, context): Promise<Answer> {
      if (context.isLive !== true) busy.begin();
      const watch = new Stopwatch(context.span ?? null);
      const written: Written | null = options.replicas === null ? null : { position: null };
      try {
        const query = chooseDocument(options.trusted?.list ?? null, named, context.anyDocument);
        const execution = { caller, request: { ...named, query }, context, watch, written };
        const { batch } = context;
        const answer =
          batch === undefined
            ? toAnswer(await executeOperation(options, execution), watch)
            : await answerMember(options, execution, batch);
        const writtenAt = written?.position ?? null;
        return writtenAt === null ? answer : { ...answer, writtenAt };
      } catch (error) {
        const { requestId, span } = context;
        const { observe, maxResponseBytes } = options;
        const nothingRan = {
          showHints: false,
          model: null,
          steps: [],
          citedInput: () => null,
          hasRegex: false,
          hideUnsent: (_step: number, message: string) => message,
          parsedInput: () => null,
        };
        const errors = [toPublicError(error, { ...nothingRan, requestId, span, observe, maxResponseBytes })];
        const outcome = { data: undefined, errors, operationName: named.operationName, documentHash: null };
        return toAnswer(outcome, watch);
      } finally {
        if (context.isLive !== true) busy.end();
      }
    },
    async isSubscription(role, named, { unlimited, showHints, anyDocument }) {
      try {
        const query = chooseDocument(options.trusted?.list ?? null, named, anyDocument);
        const { documents, suggestions } = (await options.reflector.answering(role))?.shared ?? {};
        const maxTokens = unlimited ? null : options.limits.maxTokens;
        const document = documents?.prepare(query, maxTokens, showHints || suggestions);
        // Also where it is invalid: the model may be older than what it asks for.
        const kind = document === undefined ? null : documents?.kindOf(document, named.operationName);
        return kind === OperationTypeNode.SUBSCRIPTION;
      } catch {
        // `execute` says why.
        return false;
      }
    },
    admits(role, queuedAs) {
      const { pool, replicas } = options;
      if (pool.queue.admits(role, queuedAs) || replicas?.admits(role, queuedAs)) return true;
      pool.counts.refused += 1;
      return false;
    },
    notReady: () => options.reflector.problem(),
  };
}

/** Answers a member of a batch, with what earlier members left of the limits. @throws PublicError `TIMEOUT` */
async function answerMember(options: ExecuteOptions, execution: Execution, batch: BatchUse): Promise<Answer> {
  batch.ownCost = 0;
  batch.isMutation = false;
  const { limits, requestTimeoutMs } = options;
  const leftMs = requestTimeoutMs - (performance.now() - batch.startedAt);
  // 0 means no limit.
  if (requestTimeoutMs > 0 && leftMs < 1) {
    throw new PublicError('TIMEOUT', 'The requests before this one in the batch took all of its time; it did not run.');
  }
  const rest: ExecuteOptions = {
    ...options,
    limits: { ...limits, maxCost: Math.max(0, limits.maxCost - batch.cost) },
    maxResponseBytes: Math.max(1, options.maxResponseBytes - batch.bytes),
    requestTimeoutMs: Math.floor(requestTimeoutMs && leftMs),
  };
  const outcome = await executeOperation(rest, execution);
  const refused = outcome.errors.map((error) => tellUse(error, options, batch));
  const answer = toAnswer({ ...outcome, errors: refused }, execution.watch);
  const { data, operationName, documentHash } = outcome;
  if (data === undefined || data === 'null' || utf8Bytes(answer.body) <= rest.maxResponseBytes) return answer;
  // Some results are limited by the largest message of the database alone.
  const error = (batch.isMutation ? committedTooLarge : textTooLarge)(rest.maxResponseBytes, null);
  const errors = [tellUse(error, options, batch)];
  return toAnswer({ data: 'null', errors, operationName, documentHash }, execution.watch);
}

/** An error names what earlier members have left of a limit; this adds what they have used. */
function tellUse(
  error: PublicError,
  { limits, maxResponseBytes }: ExecuteOptions,
  { cost, bytes }: BatchUse,
): PublicError {
  const { code, message, details } = error;
  const limit = details.extensions?.limit;
  const [used, most] = limit === 'max-cost' ? [cost, limits.maxCost] : [bytes, maxResponseBytes];
  if (used === 0 || (limit !== 'max-cost' && limit !== 'max-response-bytes')) return error;
  return new PublicError(code, `${message} The requests before it in the batch have used ${used} of ${most}.`, details);
}

function toAnswer(outcome: Outcome, stages: Stages): Answer {
  const { data, errors, operationName, operationType, documentHash } = outcome;
  const codes = errors.map(({ code }) => code);
  const body = outcome.body ?? toBody(data, errors);
  const messages = errors.length === 0 ? undefined : toldMessages(errors);
  return { body, executed: data !== undefined, codes, messages, operationName, operationType, documentHash, stages };
}

// The database's data goes into the body unchanged.
function toBody(data: FlightResult | undefined, errors: readonly PublicError[]): Text {
  if (errors.length === 0)
    return typeof data === 'object' ? joinTexts(['{"data":', data, '}']) : `{"data":${data ?? 'null'}}`;
  const entries = JSON.stringify(errors.map(toErrorEntry));
  return data === undefined ? `{"errors":${entries}}` : joinTexts(['{"data":', data, `,"errors":${entries}}`]);
}
