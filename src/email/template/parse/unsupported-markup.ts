/**
 * What Gmail, Outlook or Apple Mail ignore in the markup of an email so that it looks wrong there: the elements and the
 * CSS that no version of a program supports, by the data of caniemail.com. What only looks plainer is not listed.
 */

const [gmail, outlook, both] = ['Gmail', 'Outlook', 'Gmail and Outlook'];

/** Elements and the programs that leave them out. */
export const unsupportedElements: ReadonlyMap<string, string> = new Map([
  ['audio', both], ['video', gmail], ['svg', gmail], ['object', gmail], ['picture', gmail], ['marquee', gmail],
]); // biome-ignore format: a table

/** CSS properties and the programs that ignore them. */
const unsupportedProperties: ReadonlyMap<string, string> = new Map([
  ...named(
    gmail,
    'position inset clip-path mask-image border-image filter backdrop-filter transform visibility z-index',
  ),
  ...named(gmail, 'align-items justify-content flex-direction flex-wrap list-style-image shape-outside'),
  ...named(gmail, 'grid-template grid-template-areas grid-template-columns grid-template-rows'),
  ...named(gmail, 'margin-inline-start margin-inline-end margin-block-start margin-block-end min-inline-size'),
  ...named(gmail, 'padding-inline-start padding-inline-end padding-block-start padding-block-end'),
  ...named(both, 'aspect-ratio block-size inline-size max-inline-size min-block-size'),
  ...named(both, 'margin-inline margin-block padding-inline padding-block border-inline border-block'),
]);

const unsupportedValues: readonly (readonly [pattern: RegExp, text: string, programs: string])[] = [
  [/\bvar\(/i, 'var()', gmail],
  [/\bclamp\(/i, 'clamp()', outlook],
  [/\b(?:ok)?l(?:ab|ch)\(/i, 'lab() and lch()', gmail],
  [/\blight-dark\(/i, 'light-dark()', gmail],
];

function named(programs: string, names: string): [string, string][] {
  return names.split(' ').map((name) => [name, programs]);
}

/** A declaration that a program ignores; null: all support it. */
export function unsupportedDeclaration(property: string, value: string): string | null {
  const programs = unsupportedProperties.get(property.toLowerCase());
  if (programs !== undefined)
    return `${programs} ignore${programs === both ? '' : 's'} the CSS property ${property.toLowerCase()}`;
  const [, text, by] = unsupportedValues.find(([pattern]) => pattern.test(value)) ?? [];
  return text === undefined ? null : `${by} ignores the CSS function ${text}`;
}
