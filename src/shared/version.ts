/** The version of the package. The path to its file is the same from source and compiled code. */
import { readFileSync } from 'node:fs';

const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');

/** As in `package.json`. */
export const { version } = JSON.parse(text) as { readonly version: string };
