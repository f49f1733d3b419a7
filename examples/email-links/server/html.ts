/** Pages from templates: a value that is put in is text, unless it was made here. */

/** A piece of a page. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Makes a piece of literal text and of values. */
export function html(literals: TemplateStringsArray, ...values: readonly (string | Html)[]): Html {
  const texts = values.map((value) => (value instanceof Html ? value.text : escapeText(value)));
  return new Html(String.raw({ raw: literals }, ...texts));
}

const references: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => references[character] ?? character);
}
