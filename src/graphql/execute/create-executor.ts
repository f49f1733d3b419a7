/** Makes the executor, which turns a caller's request into the body of its answer. */
import type { FlightResult } from '../../postgres/wire/flight.ts';
import type { PublicError } from '../../shared/errors.ts';
import type { Stopwatch } from '../../shared/observation.ts';
import { joinTexts, type Text } from './answer/compressed-text.ts';
import { toErrorEntry, toPublicError } from './answer/public-error.ts';
import { executeOperation } from './execute-operation.ts';
import type { Answer, Executor } from './executor.ts';
import type { Outcome } from './run-attempt.ts';
import type { ExecuteOptions, Written } from './run-flight.ts';

/** An executor on a pool and a reflector, which the caller owns. */
export function createExecutor(options: ExecuteOptions): Executor {
  return {
    async execute(caller, request, context): Promise<Answer> {
      const watch: Stopwatch = { parseMs: 0, compileMs: 0, runMs: 0 };
      const written: Written | null = options.replicas === null ? null : { position: null };
      try {
        const execution = { caller, request, context, watch, written };
        const answer = toAnswer(await executeOperation(options, execution), watch);
        const writtenAt = written?.position ?? null;
        return writtenAt === null ? answer : { ...answer, writtenAt };
      } catch (error) {
        const { requestId } = context;
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
        const errors = [toPublicError(error, { ...nothingRan, requestId, observe, maxResponseBytes })];
        const outcome = { data: undefined, errors, operationName: request.operationName, documentHash: null };
        return toAnswer(outcome, watch);
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

function toAnswer(outcome: Outcome, stages: Stopwatch): Answer {
  const { data, errors, operationName, documentHash } = outcome;
  const codes = errors.map(({ code }) => code);
  const body = outcome.body ?? toBody(data, errors);
  return { body, executed: data !== undefined, codes, operationName, documentHash, stages };
}

// The database's data goes into the body unchanged.
function toBody(data: FlightResult | undefined, errors: readonly PublicError[]): Text {
  if (errors.length === 0)
    return typeof data === 'object' ? joinTexts(['{"data":', data, '}']) : `{"data":${data ?? 'null'}}`;
  const entries = JSON.stringify(errors.map(toErrorEntry));
  return data === undefined ? `{"errors":${entries}}` : joinTexts(['{"data":', data, `,"errors":${entries}}`]);
}
