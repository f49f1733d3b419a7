/**
 * The memory of both gateways of a cluster, looked at all the time. Each life of a process is judged by itself: one that was killed
 * begins anew.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type MemorySample, type MemoryTrend, trendOf, watchMemory } from '../soak/memory.ts';
import type { Ledger } from '../storm/ledger.ts';
import type { WhenOver } from '../support/when-over.ts';
import { type GatewayName, gatewayNames, type Servers } from './servers.ts';

const port = 9464;
/** From one look to the next, and from one collection of garbage to the next. */
const everyMs = 10_000;
/** How long memory may grow: until what is kept of callers is full. */
const warmUpMinutes = 40;
/** The gateway is busy when it is measured: of so many minutes, the look that found the least counts. */
const busyMinutes = 5;
/** Where there is less to judge from, a slope is mostly noise. */
const slopeMinutes = 40;
const maxSlopeMb = 3;

/** Looks at both. */
export interface GatewayMemory {
  /** What a gateway is started with. */
  env(name: GatewayName): Readonly<Record<string, string>>;
  /** Looks at them until it is stopped. */
  watch(servers: Servers, stop: AbortSignal): Promise<void>;
  /** Notes a violation where it grows. @returns Each life in a line. */
  judge(ledger: Ledger): readonly string[];
}

/** Prepares it. */
export function watchGateways(whenOver: WhenOver): GatewayMemory {
  const watches = new Map(gatewayNames.map((name) => [name, watchMemory(everyMs, whenOver)]));
  const lives = new Map<GatewayName, MemorySample[][]>(gatewayNames.map((name) => [name, []]));
  return {
    env: (name) => ({ ...watches.get(name)!.env, PGREFLECT_METRICS_PORT: String(port) }),
    async watch({ machines }, stop) {
      const began = performance.now();
      const isAlive = new Map<GatewayName, boolean>();
      const look = async (name: GatewayName) => {
        const url = `http://${machines[name].address}:${port}/metrics`;
        const sample = await watches
          .get(name)!
          .read(url, (performance.now() - began) / 60_000)
          .catch(() => null);
        if (sample !== null && isAlive.get(name) !== true) lives.get(name)!.push([]);
        // While it is written, the file is empty.
        if (sample !== null && sample.aliveMb > 0) lives.get(name)!.at(-1)!.push(sample);
        isAlive.set(name, sample !== null);
      };
      while (!stop.aborted) {
        await Promise.all(gatewayNames.map(look));
        await sleep(everyMs, undefined, { signal: stop }).catch(() => {});
      }
    },
    judge: (ledger) =>
      [...lives].flatMap(([name, all]) =>
        all.map((samples) => {
          const since = samples[0]?.minutes ?? 0;
          const trend = trendOf(leastOf(samples), since + warmUpMinutes);
          const { minutes, aliveSlope } = trend;
          if (minutes >= slopeMinutes && aliveSlope > maxSlopeMb)
            ledger.violation(`memory of ${name} grows by ${aliveSlope.toFixed(1)} MB an hour`);
          return `${name} from minute ${since.toFixed(0)} on: ${describeLife(samples, trend)}`;
        }),
      ),
  };
}

/** The least that was alive in each stretch. */
function leastOf(samples: readonly MemorySample[]): readonly MemorySample[] {
  const stretches = Map.groupBy(samples, ({ minutes }) => Math.floor(minutes / busyMinutes));
  return [...stretches.values()].map((all) =>
    all.reduce((least, each) => (each.aliveMb < least.aliveMb ? each : least)),
  );
}

function describeLife(samples: readonly MemorySample[], trend: MemoryTrend): string {
  const course = leastOf(samples).map(({ aliveMb }) => aliveMb.toFixed(0));
  const resident = Math.max(...samples.map(({ residentMb }) => residentMb)).toFixed(0);
  const atMost = `${course.join(', ')} MB alive, at most ${resident} MB resident`;
  if (trend.minutes === 0) return atMost;
  const slopes = [trend.aliveSlope, trend.compiledSlope, trend.residentSlope].map((slope) => slope.toFixed(1));
  return `${atMost}; in the last ${trend.minutes.toFixed(0)} minutes ${slopes[0]} MB an hour alive, ${slopes[1]} compiled, ${slopes[2]} resident`;
}
