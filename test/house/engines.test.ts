/** The versions of Node that the package names are such that everything it installs accepts: `npm i --engine-strict` refuses others. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

interface Locked {
  readonly dev?: boolean;
  readonly engines?: { readonly node?: string };
}

const root = join(import.meta.dirname, '../..');
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>;
};

type Version = readonly [major: number, minor: number];

/** Of ranges such as `^22.15.0 || >=26`, to the minor version. */
function accepts(range: string, [major, minor]: Version): boolean {
  return range.split('||').some((part) =>
    part
      .replaceAll(/([<>=^~]) +/g, '$1')
      .trim()
      .split(/\s+/)
      .every((bound) => {
        const [, operator = '', from = '0', of = '0'] = /^([<>=^~]*)v?(\d+|\*|x)?(?:\.(\d+|\*|x))?/.exec(bound) ?? [];
        const [wanted, least] = [Number(from) || 0, Number(of) || 0];
        const isAtLeast = major > wanted || (major === wanted && minor >= least);
        if (from === '*' || bound === '') return true;
        if (operator.startsWith('<')) return major < wanted || (major === wanted && minor < least);
        return operator.startsWith('>') ? isAtLeast : isAtLeast && major === wanted;
      }),
  );
}

test('every installed package accepts the versions of Node that the package names', () => {
  const own = packages['']!.engines!.node!;
  const versions: Version[] = [20, 21, 22, 23, 24, 25, 26, 27, 30].flatMap(
    (major) =>
      [
        [major, 0],
        [major, 15],
        [major, 99],
      ] as const,
  );
  const named = versions.filter((version) => accepts(own, version));
  expect(named).toContainEqual([22, 15]);
  expect(named).toContainEqual([24, 15]);
  const refusing = Object.entries(packages).flatMap(([name, { dev, engines }]) =>
    named
      .filter((version) => !dev && engines?.node && !accepts(engines.node, version))
      .map((version) => `${name} ${engines?.node}: ${version.join('.')}`),
  );
  expect(refusing).toEqual([]);
});
