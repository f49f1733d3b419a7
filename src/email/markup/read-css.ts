/**
 * Reads the declarations of CSS. Takes each character a fixed number of times, because the text is untrusted. May be the source of a
 * template with NUL in place of its actions.
 */
import { type CSSToken, TokenType, tokenize } from '@csstools/css-tokenizer';

/** A declaration. */
export interface Declaration {
  /** In small letters. */
  readonly property: string;
  /** Offset of the property, in UTF-16 units. */
  readonly at: number;
  /** Without blanks and comments. */
  readonly value: readonly CSSToken[];
}

interface ReadCss {
  readonly declarations: readonly Declaration[];
  /** Offsets of `@import`. */
  readonly imports: readonly number[];
}

const skipped: readonly TokenType[] = [TokenType.Whitespace, TokenType.Comment, TokenType.CDO, TokenType.CDC];
const onlyActions = /^\0+$/;

/** The declarations of a `style` attribute, or of the rules of a style sheet that stand in no other rule, such as `@media`. */
export function readCss(css: string, place: 'attribute' | 'sheet'): ReadCss {
  const declarations: Declaration[] = [];
  const imports: number[] = [];
  let depth = place === 'attribute' ? 1 : 0;
  let around = 0;
  let statement: CSSToken[] = [];
  const finish = () => {
    const [first, colon, ...value] = statement;
    statement = [];
    if (first?.[0] === TokenType.AtKeyword && first[4].value.toLowerCase() === 'import') imports.push(first[2]);
    if (first?.[0] !== TokenType.Ident || colon?.[0] !== TokenType.Colon || depth === 0 || around > 0) return;
    const from = first[1].lastIndexOf('\0') + 1;
    declarations.push({ property: first[1].slice(from).toLowerCase(), at: first[2] + from, value });
  };
  for (const token of tokenize({ css })) {
    const [type, text] = token;
    if (type === TokenType.OpenCurly) {
      if (around > 0 || statement[0]?.[0] === TokenType.AtKeyword) around += 1;
      else depth += 1;
      statement = [];
    } else if (type === TokenType.CloseCurly) {
      finish();
      if (around > 0) around -= 1;
      else depth = Math.max(0, depth - 1);
    } else if (type === TokenType.Semicolon || type === TokenType.EOF) finish();
    else if (!skipped.includes(type) && (statement.length > 0 || !onlyActions.test(text))) statement.push(token);
  }
  return { declarations, imports };
}
