/**
 * What operators see of this process: its last requests, and what happened in each of the last 60 minutes. Nothing is
 * measured here: it keeps what the log and the metrics get, too.
 */
import type { PoolState } from '../../postgres/wire/pool-state.ts';
import type { Observe, RequestObservation } from '../../shared/observation.ts';
import { graphqlPath, projectPath, studioPath } from '../paths.ts';
import { type MinuteCounts, Minutes } from './minutes.ts';
import type { KeptRequests, RequestFilter } from './recent-schemas.ts';
import { RequestRing } from './request-ring.ts';

/** How often the pool is looked at, in milliseconds. */
const sampleMs = 1000;

/** How busy a process is now. */
interface Busyness {
  readonly pool: PoolState;
  /** Answers that subscriptions got since the start. */
  readonly liveEvents: number;
}

/** The last requests and minutes of this process. */
export class Recent {
  readonly #ring: RequestRing;
  readonly #minutes = new Minutes();
  #timer: NodeJS.Timeout | undefined;

  /** @param worker Number of this worker process; absent: it is none. */
  constructor(worker: number | undefined) {
    this.#ring = new RequestRing(worker ?? null);
  }

  /** Looks at the pool every second from now on. */
  watch(look: () => Busyness): void {
    this.#timer = setInterval(() => {
      const { pool, liveEvents } = look();
      this.#minutes.sample(pool, liveEvents, Date.now());
    }, sampleMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Keeps and counts what operators see. */
  readonly observe: Observe = (observation) => {
    switch (observation.kind) {
      case 'request': {
        if (isOfOperators(observation)) return;
        const now = Date.now();
        this.#ring.add(observation, now);
        this.#minutes.addRequest(observation, now);
        return;
      }
      case 'masked_error':
        if (observation.requestId !== null) this.#ring.addMasked(observation.id, observation.requestId);
        return;
      case 'email':
        this.#minutes.addEmail(observation.state, Date.now());
    }
  };

  /** The newest first. */
  requests(filter: RequestFilter): KeptRequests {
    return this.#ring.find(filter);
  }

  minutes(): readonly MinuteCounts[] {
    return this.#minutes.read(Date.now());
  }
}

const probes: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics']);
const adminPath = '/auth/v1/admin/';

/**
 * Probes, preflights, files of pages, and what the studio sends on its own. Any client can claim to be the studio, so
 * that counts only where somebody without rights gets an error: nobody hides what they do.
 */
function isOfOperators({ route, method, status, fromStudio }: RequestObservation): boolean {
  if (route === graphqlPath || status >= 400) return false;
  if (route === null) return false;
  if (method === 'OPTIONS' || probes.has(route)) return true;
  if (route.startsWith(studioPath) || route.startsWith(`${graphqlPath}/`)) return true;
  return fromStudio && (route.startsWith(projectPath) || route.startsWith(adminPath));
}
