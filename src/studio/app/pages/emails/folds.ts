/**
 * What the editor folds of a body, so that it begins with the words that people come to change: the page before and
 * after them, and long styles. The text itself stays as it is.
 */
/** Code around fewer lines is shown. */
const minLines = 5;

/** A longer text is shown as it is, because the search for its words would take too long. */
const maxLength = 100_000;

const longStyle = 40;

const heads = /<(head|style|script)\b[\s\S]*?<\/\1\s*>/gi;
const tags = /<!--[\s\S]*?-->|<[/!a-z](?:"[^"]*"|'[^']*'|[^"'>])*>/gi;
const style = /(?<=\sstyle\s*=\s*)"[^"\n]+"/gi;

/** The folds of a body, in their order; places are UTF-16 units from 0. */
export function foldsOf(text: string): readonly { readonly from: number; readonly to: number }[] {
  if (text.length > maxLength) return [];
  const blank = (code: string): string => code.replace(/\S/g, ' ');
  const words = text.replace(heads, blank).replace(tags, blank);
  const from = words.search(/\S/);
  if (from === -1) return [];
  const start = text.lastIndexOf('\n', from) + 1;
  const last = text.indexOf('\n', words.trimEnd().length);
  const end = last === -1 ? text.length : last;
  const around = [
    { from: 0, to: start - 1 },
    { from: end + 1, to: text.trimEnd().length },
  ].filter(({ from: first, to }) => first < to && text.slice(first, to).split('\n').length >= minLines);
  const styles = [...text.slice(start, end).matchAll(style)]
    .filter(([value]) => value.length > longStyle)
    .map(({ index, 0: value }) => ({ from: start + index + 1, to: start + index + value.length - 1 }));
  return [...around, ...styles].sort((a, b) => a.from - b.from);
}
