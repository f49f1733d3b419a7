/**
 * The version of the package. Its file is at the same distance from the source and from the compiled code.
 */
import { readFileSync } from 'node:fs';

const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');

/** As in `package.json`. */
export const { version } = JSON.parse(text) as { readonly version: string };
