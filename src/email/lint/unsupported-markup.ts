/**
 * Says what mail programs ignore in the markup of an email so that it looks wrong there, by the table of unsupported-table.ts.
 */
import { TokenType } from '@csstools/css-tokenizer';
import type { Declaration } from '../markup/read-css.ts';
import { elements, functions, properties, units, values } from './unsupported-table.ts';

/** An element that programs leave out; null: all show it. */
export function unsupportedElement(name: string): string | null {
  const programs = elements.get(name);
  return programs === undefined ? null : `${listed(programs)} cannot show <${name}>`;
}

/** A declaration that programs ignore; null: all support it. */
export function unsupportedDeclaration({ property, value }: Declaration): string | null {
  if (properties.has(property)) return ignored(properties.get(property), `property ${property}`);
  for (const token of value) {
    if (token[0] === TokenType.Function) {
      const called = token[4].value.toLowerCase();
      if (functions.has(called)) return ignored(functions.get(called), `function ${called}()`);
    } else if (token[0] === TokenType.Dimension) {
      const unit = token[4].unit.toLowerCase();
      if (units.has(unit)) return ignored(units.get(unit), `unit ${unit}`);
    } else if (token[0] === TokenType.Ident && takesWords.test(property)) {
      const word = token[4].value.toLowerCase();
      const isTold = property === 'display' || (word !== 'flex' && word !== 'grid');
      if (isTold && values.has(word)) return ignored(values.get(word), `value ${word}`);
    }
  }
  return null;
}

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
