/** An email as light and dark mail programs show it, independent of this browser's colors. */

/** The colors of a mail program. */
export type ColorScheme = 'light' | 'dark';

const question = /\(\s*prefers-color-scheme\s*:\s*(light|dark)\s*\)/gi;

/** Whether the email says how it looks in the dark. Mail programs invert the colors of others. */
export function hasDarkDesign(html: string): boolean {
  return /prefers-color-scheme\s*:\s*dark|color-scheme["'\s:]+(?!\s)(?:content\s*=\s*["'])?[\w\s]*\bdark\b/i.test(html);
}

/** The email with its own questions about colors answered. */
export function answerColorScheme(html: string, scheme: ColorScheme): string {
  return html.replace(question, (_, asked: string) =>
    asked.toLowerCase() === scheme ? '(min-width: 0)' : '(max-width: 0)',
  );
}

/** Styles for the head of the email: its default colors, and unchanged pictures where everything else is inverted. */
export function colorSchemeHead(scheme: ColorScheme, isInverted: boolean): string {
  const base = `<meta name="color-scheme" content="${isInverted ? 'light' : scheme}">`;
  return isInverted ? `${base}<style>img,video{filter:invert(1) hue-rotate(180deg)}</style>` : base;
}
