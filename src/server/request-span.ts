/** What the span of a request says, by the semantic conventions of HTTP and GraphQL: nothing that a client has sent but names. */
import type { AnswerFacts, RequestObservation } from '../shared/observation.ts';
import { Stopwatch } from '../shared/stopwatch.ts';
import type { SpanEnd, SpanFacts } from '../shared/trace/span.ts';

/** Probes would be most of the traces of a quiet service. */
const untracedPaths: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics']);

/** Ends the span of a request. @param startedAt In terms of `performance.now()`. */
export function endRequestSpan(
  observation: RequestObservation,
  { startedAt, answer }: { readonly startedAt: number; readonly answer: AnswerFacts | null },
): void {
  const { span, method, path, route, status, aborted, stages } = observation;
  if (!span.isRecorded || untracedPaths.has(path)) return;
  const { authenticateMs } = stages;
  if (authenticateMs > 0) span.part('authenticate', startedAt, { until: startedAt + authenticateMs });
  const answeredAt = answer?.stages instanceof Stopwatch ? answer.stages.endedAt : null;
  if (answeredAt !== null) span.part('serialize', answeredAt);
  const facts: SpanFacts = {
    'http.request.method': method,
    'http.response.status_code': status,
    'http.route': route ?? undefined,
    'url.path': path,
    'url.scheme': 'http',
    'http.response.body.size': observation.bytes,
    'pgreflect.request.id': observation.requestId,
    'pgreflect.role': observation.role ?? undefined,
    'pgreflect.client_left': aborted || undefined,
    ...(answer !== null && operationFacts({ ...answer, operationName: observation.operationName })),
  };
  const name = route === null ? method : `${method} ${route}`;
  span.end({ name, facts, error: status >= 500 ? String(status) : undefined });
}

/** How a run of a live query ended. */
export function endOfOperation(answer: AnswerFacts): SpanEnd {
  return { facts: operationFacts(answer), error: answer.codes[0] };
}

/** The document is left out: its literals are values of users. */
function operationFacts({ operationName, operationType, documentHash, codes }: AnswerFacts): SpanFacts {
  return {
    'graphql.operation.name': operationName ?? undefined,
    'graphql.operation.type': operationType,
    'pgreflect.document.hash': documentHash ?? undefined,
    'pgreflect.error.codes': codes.length === 0 ? undefined : codes.slice(0, maxCodes).join(','),
  };
}

/** A request can have as many errors as root fields. */
const maxCodes = 10;
