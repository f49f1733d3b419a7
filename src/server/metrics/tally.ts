/** Counts and histograms of a process by labels. Whoever counts often keeps what `counter` and `histogram` return. */
import { Distribution } from '../../shared/distribution.ts';
import { type SeriesName, series } from './series.ts';
import type { SeriesSample, Snapshot } from './snapshot.ts';

/** A counter with its labels. */
export class Count {
  value = 0;

  add(more = 1): void {
    this.value += more;
  }
}

class Family<C> {
  readonly #children = new Map<string, { readonly labels: readonly string[]; readonly child: C }>();
  readonly #make: () => C;

  constructor(make: () => C) {
    this.#make = make;
  }

  of(labels: readonly string[]): C {
    const key = labels.join('\0');
    const known = this.#children.get(key);
    if (known !== undefined) return known.child;
    const child = this.#make();
    this.#children.set(key, { labels, child });
    return child;
  }

  samples(read: (child: C) => Omit<SeriesSample, 'labels'>): readonly SeriesSample[] {
    return [...this.#children.values()].map(({ labels, child }) => ({ labels, ...read(child) }));
  }
}

/** All counts of a process since its start. */
export class Tally {
  readonly #counters = new Map<SeriesName, Family<Count>>();
  readonly #histograms = new Map<SeriesName, Family<Distribution>>();

  counter(name: SeriesName, ...labels: readonly string[]): Count {
    return childOf(this.#counters, name, () => new Family(() => new Count())).of(labels);
  }

  histogram(name: SeriesName, ...labels: readonly string[]): Distribution {
    const make = () => new Family(() => new Distribution(series[name].bounds ?? []));
    return childOf(this.#histograms, name, make).of(labels);
  }

  read(): Snapshot {
    return Object.fromEntries([
      ...[...this.#counters].map(([name, family]) => [name, family.samples(({ value }) => ({ value }))]),
      ...[...this.#histograms].map(([name, family]) => [
        name,
        family.samples(({ sum, counts, exemplars }) => ({
          value: sum,
          counts: [...counts],
          ...(exemplars && { exemplars: [...exemplars] }),
        })),
      ]),
    ]);
  }
}

function childOf<V>(families: Map<SeriesName, V>, name: SeriesName, make: () => V): V {
  const known = families.get(name) ?? make();
  families.set(name, known);
  return known;
}
