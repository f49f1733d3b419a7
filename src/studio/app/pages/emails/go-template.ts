/** Go templates in the editor: actions are colored over the HTML around them, and completed. */
import type { CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete';
import { html } from '@codemirror/lang-html';
import { type Extension, RangeSetBuilder } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import { variableMeanings } from './email-names.ts';

const keywords = ['if', 'else', 'end', 'range', 'with', 'define', 'template', 'block', 'break', 'continue'];
const functions = [
  'and', 'or', 'not', 'eq', 'ne', 'lt', 'le', 'gt', 'ge', 'len', 'index', 'slice', 'print', 'printf', 'println', 'html', 'js',
  'urlquery',
]; // biome-ignore format: a list of names

const action = /\{\{[\s\S]*?(?:\}\}|$)/g;
const token = /\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|`[^`]*`|\$?\.?[A-Za-z_][\w.]*|\$|\d[\w.]*/g;

const marks = {
  action: Decoration.mark({ class: 'go-action' }),
  keyword: Decoration.mark({ class: 'go-keyword' }),
  name: Decoration.mark({ class: 'go-name' }),
  text: Decoration.mark({ class: 'go-text' }),
  note: Decoration.mark({ class: 'go-note' }),
};

function markOf(word: string): Decoration {
  if (word.startsWith('/*')) return marks.note;
  if (/^["`\d]/.test(word)) return marks.text;
  return keywords.includes(word) || functions.includes(word) ? marks.keyword : marks.name;
}

/** Decorates only the visible text and a little around it, so that long texts stay responsive. */
function decorate({ state, viewport }: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  const text = state.doc.sliceString(viewport.from, viewport.to);
  for (const found of text.matchAll(action)) {
    const from = viewport.from + found.index;
    builder.add(from, from + found[0].length, marks.action);
    for (const word of found[0].matchAll(token)) {
      builder.add(from + word.index, from + word.index + word[0].length, markOf(word[0]));
    }
  }
  return builder.finish();
}

const actions = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = decorate(view);
    }
    update(update: ViewUpdate): void {
      if (update.docChanged || update.viewportChanged) this.decorations = decorate(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

const look = EditorView.theme({
  '.go-action, .go-action *': { color: 'var(--code-note)' },
  '.go-action': { backgroundColor: 'var(--accent-soft)', borderRadius: '3px' },
  '.go-action .go-keyword, .go-action .go-keyword *': { color: 'var(--code-key)' },
  '.go-action .go-name, .go-action .go-name *': { color: 'var(--accent)' },
  '.go-action .go-text, .go-action .go-text *': { color: 'var(--code-text)' },
});

/** A body: HTML with actions. */
export const goHtml: Extension = [html({ autoCloseTags: true }), actions, look];

/** A subject: text with actions. */
export const goText: Extension = [actions, look];

/**
 * Completes an action: the email's variables, the members of its metadata, and keywords.
 *
 * @param data Sample of the variables; its `Data` shows the members of users' metadata.
 */
export function completeAction(
  variables: readonly string[],
  data: Readonly<Record<string, unknown>>,
): CompletionSource {
  return (context: CompletionContext): CompletionResult | null => {
    const before = context.state.doc.sliceString(Math.max(0, context.pos - 2000), context.pos);
    const open = before.lastIndexOf('{{');
    if (open === -1 || before.indexOf('}}', open) !== -1) return null;
    const member = /\.Data\.(\w*)$/.exec(before);
    if (member !== null) {
      const names = Object.keys((data.Data ?? {}) as object).filter((name) => /^\w+$/.test(name));
      return {
        from: context.pos - (member[1] ?? '').length,
        options: names.map((label) => ({ label, detail: 'metadata' })),
      };
    }
    const word = /\.?[A-Za-z]*$/.exec(before)?.[0] ?? '';
    if (word === '' && !context.explicit) return null;
    const names = variables.map((name) => ({ label: `.${name}`, detail: variableMeanings[name] ?? '', boost: 1 }));
    const words = [...keywords, ...functions].map((label) => ({ label }));
    return { from: context.pos - word.length, options: word.startsWith('.') ? names : [...names, ...words] };
  };
}
