/**
 * What mail programs do not support so that an email looks wrong, with the letters of the programs: Gmail, Outlook for
 * Windows (W), Outlook on the web and the new one (O), Apple Mail, Yahoo. A letter means that no current version does.
 *
 * Written by `npm run test:update` from the data of caniemail.com of 2026-05-13.
 */

/** Elements. */
export const elements: ReadonlyMap<string, string> = new Map([
  ['audio', 'GWOY'], ['dialog', 'WOY'], ['marquee', 'GW'], ['meter', 'WY'], ['object', 'GWOY'], ['picture', 'GWOY'],
  ['progress', 'WOY'], ['svg', 'GWOY'], ['video', 'GWOY'],
]); // biome-ignore format: a table

/** CSS properties. */
export const properties: ReadonlyMap<string, string> = new Map([
  ['align-items', 'GWY'], ['aspect-ratio', 'GWOY'], ['backdrop-filter', 'GWOY'], ['background-blend-mode', 'WY'],
  ['background-image', 'W'], ['block-size', 'GWOY'], ['border-block', 'GWOY'], ['border-image', 'GWOY'],
  ['border-inline', 'GWOY'], ['clear', 'W'], ['clip-path', 'GWOY'], ['column-count', 'WY'], ['column-gap', 'WY'],
  ['filter', 'GWOY'], ['flex-direction', 'GWY'], ['flex-wrap', 'GWY'], ['float', 'W'], ['gap', 'WY'],
  ['grid-template', 'GWOY'], ['grid-template-areas', 'GWOY'], ['grid-template-columns', 'GWOY'],
  ['grid-template-rows', 'GWOY'], ['inline-size', 'GWOY'], ['inset', 'GWOY'], ['justify-content', 'GWY'],
  ['list-style-image', 'GWOY'], ['margin-block', 'GWOY'], ['margin-block-end', 'GWOY'],
  ['margin-block-start', 'GWOY'], ['margin-inline', 'GWOY'], ['margin-inline-end', 'GWOY'],
  ['margin-inline-start', 'GWOY'], ['mask-image', 'GWOY'], ['max-block-size', 'WOY'], ['max-inline-size', 'GWOY'],
  ['min-block-size', 'GWOY'], ['min-inline-size', 'GWOY'], ['mix-blend-mode', 'WY'], ['object-fit', 'WY'],
  ['padding-block', 'GWOY'], ['padding-block-end', 'GWOY'], ['padding-block-start', 'GWOY'],
  ['padding-inline', 'GWOY'], ['padding-inline-end', 'GWOY'], ['padding-inline-start', 'GWOY'], ['position', 'GW'],
  ['row-gap', 'WY'], ['shape-outside', 'GWOY'], ['text-orientation', 'WY'], ['transform', 'GWOY'],
  ['visibility', 'GW'], ['writing-mode', 'WY'], ['z-index', 'GW'],
]); // biome-ignore format: a table

/** CSS functions. */
export const functions: ReadonlyMap<string, string> = new Map([
  ['calc', 'WOY'], ['clamp', 'WOY'], ['conic-gradient', 'GWOY'], ['lab', 'GWOY'], ['lch', 'GWOY'],
  ['light-dark', 'GWO'], ['linear-gradient', 'WOY'], ['max', 'WOY'], ['min', 'WOY'], ['oklab', 'GWOY'],
  ['oklch', 'GWOY'], ['radial-gradient', 'WOY'], ['rgba', 'W'], ['var', 'GWOY'],
]); // biome-ignore format: a table

/** CSS units. */
export const units: ReadonlyMap<string, string> = new Map([
  ['ch', 'WY'], ['rem', 'WY'], ['vh', 'W'], ['vmax', 'WY'], ['vmin', 'WY'], ['vw', 'W'],
]); // biome-ignore format: a table

/** CSS values: of `display`, and lengths. */
export const values: ReadonlyMap<string, string> = new Map([
  ['fit-content', 'WY'], ['flex', 'W'], ['grid', 'W'], ['max-content', 'WY'], ['min-content', 'WY'],
]); // biome-ignore format: a table
