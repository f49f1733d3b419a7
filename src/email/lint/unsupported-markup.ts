/**
 * Says what mail programs ignore in the markup of an email so that it looks wrong there, by the table of unsupported-table.ts.
 */
import { elements, functions, properties, units, values } from './unsupported-table.ts';

/** An element that programs leave out; null: all show it. */
export function unsupportedElement(name: string): string | null {
  const programs = elements.get(name);
  return programs === undefined ? null : `${listed(programs)} cannot show <${name}>`;
}

/** A declaration that programs ignore; null: all support it. */
export function unsupportedDeclaration(property: string, value: string): string | null {
  const name = property.toLowerCase();
  if (properties.has(name)) return ignored(properties.get(name), `property ${name}`);
  for (const { 1: called, 2: unit, 3: word } of value.toLowerCase().matchAll(parts)) {
    if (called !== undefined && functions.has(called)) return ignored(functions.get(called), `function ${called}()`);
    if (unit !== undefined && units.has(unit)) return ignored(units.get(unit), `unit ${unit}`);
    const isLength = word === 'flex' || word === 'grid' ? name === 'display' : true;
    if (word !== undefined && isLength && takesWords.test(name) && values.has(word))
      return ignored(values.get(word), `value ${word}`);
  }
  return null;
}

/** Addresses and texts are skipped: functions with their name, numbers with their unit, words. */
const parts = /url\([^)]*\)?|"[^"]*"?|'[^']*'?|([a-z][a-z-]*)\(|(?<![\w.#-])[\d.]+([a-z]+)|([a-z][\w-]*)/g;
const takesWords = /^(?:display|(?:min-|max-)?(?:width|height))$/;

function ignored(programs: string | undefined, what: string): string {
  const names = listed(programs ?? '');
  return `${names} ignore${/,| and /.test(names) ? '' : 's'} the CSS ${what}`;
}

/** `GWY`: Gmail, Outlook for Windows and Yahoo. */
function listed(letters: string): string {
  const names = letters
    .replace('WO', 'M')
    .split('')
    .map((letter) => programs[letter] ?? letter);
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

const programs: Readonly<Record<string, string>> = {
  G: 'Gmail',
  M: 'Outlook',
  W: 'Outlook for Windows',
  O: 'Outlook on the web',
  A: 'Apple Mail',
  Y: 'Yahoo',
};
