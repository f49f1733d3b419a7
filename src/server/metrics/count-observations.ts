/** Counts observations. What a request costs here is paid by every request: no label is joined, nothing is allocated. */
import type { Distribution } from '../../shared/distribution.ts';
import type { Observation, Observe, RequestObservation } from '../../shared/observation.ts';
import { graphqlPath } from '../paths.ts';
import { outcomeOf, outcomes, type RequestOutcome } from './outcome.ts';
import type { Count, Tally } from './tally.ts';

/** Rate limits by the code of the refusal; that of the GraphQL API is also one of the studio's. */
const limitOfCodes: ReadonlyMap<string, string> = new Map([
  ['RATE_LIMITED', 'graphql'],
  ['rate_limited', 'management'],
  ['over_request_rate_limit', 'auth'],
  ['over_email_send_rate_limit', 'emails'],
  ['over_sms_send_rate_limit', 'texts'],
]);

/** Why a subscription ended, beside the codes of errors. */
const closedBy = ['client', 'stopping'] as const;

/** Makes the function that counts. */
export function createCounts(tally: Tally): Observe {
  const countRequest = createRequestCounts(tally);
  const durations = (name: 'pgreflect_model_reload_duration_seconds') => ({
    success: tally.histogram(name, 'success'),
    failed: tally.histogram(name, 'failed'),
  });
  const reloads = durations('pgreflect_model_reload_duration_seconds');
  const refused = tally.counter('pgreflect_http_connections_refused_total');
  const closed = tally.counter('pgreflect_http_connections_closed_total');
  // A series that begins with its first event has no increase then, so alerts would miss it.
  for (const kind of alarming) tally.counter('pgreflect_events_total', kind);
  for (const limit of limitOfCodes.values()) tally.counter('pgreflect_rate_limited_total', limit);
  for (const reason of closedBy) tally.counter('pgreflect_live_closed_total', reason);
  return (observation) => {
    switch (observation.kind) {
      case 'request':
        return countRequest(observation);
      case 'connection_failed':
        return tally.counter('pgreflect_pool_connection_failures_total', observation.pool, observation.reason).add();
      case 'email':
        return tally.counter('pgreflect_emails_total', observation.email, observation.state).add();
      case 'subscription':
        return tally.counter('pgreflect_live_closed_total', observation.ended).add();
      case 'external_call': {
        const { service, name, outcome, durationMs } = observation;
        const durations = tally.histogram('pgreflect_external_call_duration_seconds', service, name, outcome);
        return durations.observe(durationMs / 1000);
      }
      case 'connections_refused':
        return refused.add(observation.count);
      case 'connections_closed':
        return closed.add(observation.count);
      case 'reloaded':
        return reloads.success.observe(observation.durationMs / 1000);
      case 'reload_failed':
        reloads.failed.observe(observation.durationMs / 1000);
    }
    tally.counter('pgreflect_events_total', observation.kind).add();
  };
}

/** Kinds that people are told of. */
const alarming: readonly Observation['kind'][] = ['masked_error', 'reload_failed', 'database_lost', 'worker_ended'];

/** What is counted of requests of a route. */
interface RouteCounts {
  readonly durations: Map<RequestOutcome, Distribution>;
  readonly byMethod: Map<string, Map<number, Count>>;
}

function createRequestCounts(tally: Tally): (request: RequestObservation) => void {
  const routes = new Map<string, RouteCounts>();
  const stages = new Map(outcomes.map((outcome) => [outcome, new Map<string, Distribution>()]));
  const codes = new Map<string, Count>();
  const bytes = tally.counter('pgreflect_http_response_bytes_total');

  function countStage(outcome: RequestOutcome, stage: string, ms: number): void {
    // Not reached.
    if (ms === 0) return;
    const name = 'pgreflect_graphql_stage_duration_seconds';
    known(stages.get(outcome) as Map<string, Distribution>, stage, () => tally.histogram(name, stage, outcome)).observe(
      ms / 1000,
    );
  }

  return (request) => {
    const { method, status, totalMs, span } = request;
    const route = request.route ?? 'none';
    const outcome = outcomeOf(request);
    const { durations, byMethod } = known(routes, route, () => ({ durations: new Map(), byMethod: new Map() }));
    const statuses = known(byMethod, method, () => new Map<number, Count>());
    known(statuses, status, () => tally.counter('pgreflect_http_requests_total', route, method, String(status))).add();
    known(durations, outcome, () => tally.histogram('pgreflect_http_request_duration_seconds', route, outcome)).observe(
      totalMs / 1000,
      span.isRecorded ? span.traceId : undefined,
    );
    bytes.add(request.bytes);
    if (request.attempt !== null) {
      const { action, method: by } = request.attempt;
      tally.counter('pgreflect_auth_attempts_total', action, by, request.codes[0] ?? 'success').add();
    }
    if (route === graphqlPath) {
      const { authenticateMs, parseMs, compileMs, waitMs, runMs, serializeMs } = request.stages;
      countStage(outcome, 'authenticate', authenticateMs);
      countStage(outcome, 'parse', parseMs);
      countStage(outcome, 'compile', compileMs);
      countStage(outcome, 'wait', waitMs);
      countStage(outcome, 'flight', runMs - waitMs);
      countStage(outcome, 'serialize', serializeMs);
    }
    for (const code of request.codes) {
      known(codes, code, () => tally.counter('pgreflect_errors_total', code)).add();
      const limit = limitOfCodes.get(code);
      if (limit !== undefined)
        tally.counter('pgreflect_rate_limited_total', route === graphqlPath ? 'graphql' : limit).add();
    }
  };
}

function known<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
