/**
 * What mail programs support, by the data of caniemail.com in the package of that name: which features no version in
 * use of a program knows, and which of these are worth a warning.
 */
import { rawData } from 'caniemail';

/** Letters of programs in the table, and their clients in the data. Outlook on the web is the new one for Windows, too. */
const programs: Readonly<Record<string, readonly [family: string, ...platforms: string[]]>> = {
  G: ['gmail', 'android', 'desktop-webmail', 'ios', 'mobile-webmail'],
  W: ['outlook', 'windows'],
  O: ['outlook', 'outlook-com'],
  A: ['apple-mail', 'ios', 'macos'],
  Y: ['yahoo', 'android', 'desktop-webmail', 'ios'],
};

/** The clients of all programs, as the package names them. */
export const clients = Object.values(programs).flatMap(([family, ...platforms]) =>
  platforms.map((platform) => `${family}.${platform}`),
);

type Names = readonly string[];

/** Features whose absence makes an email look wrong: what authors write, by the name of the feature in the data. */
export const told: Readonly<
  Record<'elements' | 'properties' | 'functions' | 'units' | 'values', Record<string, Names>>
> = {
  elements: same('html-', 'audio dialog marquee meter object picture progress svg video'),
  properties: {
    ...same('css-', 'align-items aspect-ratio backdrop-filter background-blend-mode background-image border-image'),
    ...same('css-', 'clear clip-path column-count filter flex-direction flex-wrap float inset justify-content'),
    ...same('css-', 'list-style-image mask-image max-block-size max-inline-size min-block-size min-inline-size'),
    ...same('css-', 'mix-blend-mode object-fit position shape-outside text-orientation transform visibility'),
    ...same('css-', 'writing-mode z-index'),
    'css-block-inline-size': ['block-size', 'inline-size'],
    'css-border-inline-block': ['border-inline', 'border-block'],
    'css-gap': ['gap', 'column-gap', 'row-gap'],
    'css-grid-template': ['grid-template', 'grid-template-areas', 'grid-template-columns', 'grid-template-rows'],
    'css-margin-block-start-end': ['margin-block-start', 'margin-block-end'],
    'css-margin-inline-block': ['margin-inline', 'margin-block'],
    'css-margin-inline-start-end': ['margin-inline-start', 'margin-inline-end'],
    'css-padding-block-start-end': ['padding-block-start', 'padding-block-end'],
    'css-padding-inline-block': ['padding-inline', 'padding-block'],
    'css-padding-inline-start-end': ['padding-inline-start', 'padding-inline-end'],
  },
  functions: {
    ...same('css-function-', 'clamp light-dark max min'),
    ...same('css-', 'conic-gradient linear-gradient radial-gradient rgba'),
    'css-modern-color': ['lab', 'lch', 'oklab', 'oklch'],
    'css-unit-calc': ['calc'],
    'css-variables': ['var'],
  },
  units: same('css-unit-', 'ch rem vh vmax vmin vw'),
  values: {
    'css-display-flex': ['flex'],
    'css-display-grid': ['grid'],
    'css-intrinsic-size': ['fit-content', 'min-content', 'max-content'],
  },
};

function same(prefix: string, names: string): Record<string, Names> {
  return Object.fromEntries(names.split(' ').map((name) => [prefix + name, [name]]));
}

interface Feature {
  readonly slug: string;
  readonly title: string;
  readonly category: string;
  readonly stats: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>> | undefined>>;
}

/** All features of HTML and CSS. */
export const features = (rawData.data as unknown as readonly Feature[]).filter(({ category }) =>
  ['css', 'html'].includes(category),
);

/** Letters of the programs that support a feature in none of their clients: `GW`. */
export function programsWithout(slug: string): string {
  const feature = features.find((one) => one.slug === slug);
  if (feature === undefined) throw new Error(`caniemail has no feature ${slug}`);
  return Object.entries(programs)
    .filter(([, [family, ...platforms]]) =>
      platforms.every((platform) => {
        const versions = Object.values(feature.stats[family]?.[platform] ?? {});
        return versions.at(-1)?.startsWith('n') === true;
      }),
    )
    .map(([letter]) => letter)
    .join('');
}
