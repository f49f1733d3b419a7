/**
 * A page of docs/ as a list of texts and code blocks.
 *
 * The fence of a block says what it is: its language, and behind it words about its part on the page (`sql`, `json data`,
 * `html template`). A comment in front of it, `<!-- not run: REASON -->`, keeps it from being run.
 */

/** What stands between two fences; it goes back into the page as it is. */
export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
}

/** A code block. */
export interface CodePart {
  readonly kind: 'code';
  readonly language: string;
  /** Words behind the language. */
  readonly words: readonly string[];
  /** Without the fences, with the line break at its end. */
  readonly body: string;
  /** Of the opening fence, from 1. */
  readonly line: number;
  /** Why it is not run; null: it is. */
  readonly notRun: string | null;
}

/** One page. */
export interface Page {
  readonly parts: readonly (TextPart | CodePart)[];
  /** What `<!-- runs on: … -->` at the top of the page says. */
  readonly runsOn: string;
}

/** Reads a page. @throws Error where a fence has no language or no end. */
export function parsePage(text: string): Page {
  const parts: (TextPart | CodePart)[] = [];
  let end = 0;
  let previous = '';
  for (const match of text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)) {
    const [block, info = '', body = ''] = match;
    const line = text.slice(0, match.index).split('\n').length;
    const [language = '', ...words] = info.trim().split(' ');
    if (!/^[a-z]+$/.test(language)) throw new Error(`line ${line}: the block says no language`);
    previous = text.slice(end, match.index);
    const [, notRun = null] = /<!-- not run: (.+) -->\n$/.exec(previous) ?? [];
    parts.push({ kind: 'text', text: previous }, { kind: 'code', language, words, body, line, notRun });
    end = match.index + block.length;
  }
  const rest = text.slice(end);
  if (/^```/m.test(rest)) throw new Error('a block has no end');
  const [, runsOn = ''] = /^<!-- runs on: (.+) -->$/m.exec(text) ?? [];
  return { parts: [...parts, { kind: 'text', text: rest }], runsOn };
}

/** The text of a page again. */
export function printPage(parts: readonly (TextPart | CodePart)[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : printBlock(part))).join('');
}

function printBlock({ language, words, body }: CodePart): string {
  return `\`\`\`${[language, ...words].join(' ')}\n${body}\`\`\``;
}
