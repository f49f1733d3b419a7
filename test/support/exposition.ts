/** Reads the text of `/metrics`, in the format of Prometheus or as OpenMetrics. Whatever a collector would refuse fails. */
import { expect } from 'vitest';

/** One line. */
interface ExposedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** All lines of a name. */
export interface ExposedFamily {
  readonly type: string;
  readonly help: string;
  readonly unit: string | null;
  readonly samples: readonly ExposedSample[];
}

const suffixes: Readonly<Record<string, readonly string[]>> = {
  counter: ['', '_total'],
  gauge: [''],
  info: ['_info'],
  histogram: ['_bucket', '_sum', '_count'],
};

/** The families by name. */
export function parseExposition(text: string): ReadonlyMap<string, ExposedFamily> {
  const families = new Map<string, { type: string; help: string; unit: string | null; samples: ExposedSample[] }>();
  const seen = new Set<string>();
  let open = '';
  expect(text.endsWith('\n')).toBe(true);
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '# EOF') continue;
    const [, keyword = null, name = '', rest = ''] = /^# (HELP|TYPE|UNIT) (\S+) (.+)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      expect([...families.keys()]).not.toContain(name);
      families.set(name, { type: '', help: rest, unit: null, samples: [] });
      open = name;
    } else if (keyword !== null) {
      expect(name).toBe(open);
      Object.assign(families.get(name) ?? {}, { [keyword.toLowerCase()]: rest });
    } else {
      const family = families.get(open);
      const sample = parseSample(line);
      expect(suffixes[family?.type ?? '']?.map((suffix) => `${open}${suffix}`)).toContain(sample.name);
      const key = line.slice(0, line.lastIndexOf(' '));
      expect(seen.has(key), key).toBe(false);
      seen.add(key);
      family?.samples.push(sample);
    }
  }
  return families;
}

function parseSample(line: string): ExposedSample {
  const found = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (-?[0-9.e+-]+)$/.exec(line);
  expect(found, line).not.toBeNull();
  const [, name = '', inner = '', value = ''] = found ?? [];
  const pairs = [...inner.matchAll(/([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/g)];
  expect(pairs.map(([pair]) => pair).join(''), line).toBe(inner);
  const labels = Object.fromEntries(pairs.map(([, label, text]) => [label, text]));
  return { name, labels, value: Number(value) };
}
