/** An editor for code: CodeMirror with our colors, underlined faults and completion. `Tab` leaves it. */
import { autocompletion, type CompletionSource, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import {
  bracketMatching,
  codeFolding,
  foldEffect,
  foldedRanges,
  foldKeymap,
  HighlightStyle,
  syntaxHighlighting,
  unfoldEffect,
} from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, type Extension, type StateEffect } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react';
import './code-editor.css';

/** A fault of the text. */
export interface EditorFault {
  readonly message: string;
  /** From 1; null: it concerns the whole text and is not underlined. */
  readonly line: number | null;
  /** From 1, in UTF-16 units; null where `line` is. */
  readonly column: number | null;
  /** In UTF-16 units; null: the word at the place. */
  readonly length: number | null;
  readonly severity: 'error' | 'warning';
}

/** A part of a text, in UTF-16 units from 0. */
interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** Methods of an editor. */
export interface EditorHandle {
  /** Inserts text at the cursor, replacing the selection. */
  insert(text: string): void;
}

interface CodeEditorProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly labelledBy: string;
  readonly isSingleLine?: boolean;
  readonly isReadOnly?: boolean;
  /** It gets the keyboard when it is shown, at the end of the text. */
  readonly isFocused?: boolean;
  readonly faults: readonly EditorFault[];
  readonly language: Extension;
  readonly complete?: CompletionSource;
  /** What is folded of a text at the start, and of another one that takes its place; faults are never folded. */
  readonly foldsOf?: ((text: string) => readonly TextRange[]) | undefined;
  readonly ref?: Ref<EditorHandle>;
}

const colors = HighlightStyle.define([
  { tag: [tags.tagName, tags.keyword], color: 'var(--code-key)' },
  { tag: [tags.attributeName, tags.propertyName], color: 'var(--code-name)' },
  { tag: [tags.attributeValue, tags.string, tags.number], color: 'var(--code-text)' },
  { tag: [tags.comment, tags.angleBracket, tags.documentMeta, tags.punctuation], color: 'var(--code-note)' },
]);

/** The common look of editors and differences. */
export const editorLook: Extension = [
  syntaxHighlighting(colors),
  EditorView.lineWrapping,
  EditorView.theme({
    '&': { height: '100%', fontSize: '12.5px', backgroundColor: 'var(--ground-raised)', color: 'var(--text)' },
    '&.cm-focused': { outline: 'none' },
    '.cm-scroller': { fontFamily: 'var(--source)', lineHeight: '1.6' },
    '.cm-content': { caretColor: 'var(--text)' },
    '.cm-cursor': { borderLeftColor: 'var(--text)' },
    '.cm-gutters': { backgroundColor: 'var(--ground-soft)', color: 'var(--text-soft)', border: 'none' },
    '.cm-activeLine': { backgroundColor: 'transparent' },
    '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
      backgroundColor: 'light-dark(#cfe8e4, #24504a)',
    },
    '.cm-tooltip': {
      backgroundColor: 'var(--ground-raised)',
      color: 'var(--text)',
      border: '1px solid var(--line-strong)',
      borderRadius: 'var(--radius)',
      overflow: 'hidden',
    },
    '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
      backgroundColor: 'var(--accent-ground)',
      color: 'var(--accent-text)',
    },
    '.cm-foldPlaceholder': {
      padding: '0 6px',
      border: '1px solid var(--line)',
      backgroundColor: 'var(--ground-soft)',
      color: 'var(--text-soft)',
    },
    // A background would be behind the words' own.
    '.cm-lintRange': {
      backgroundImage: 'none',
      textDecoration: 'underline wavy var(--fault)',
      textDecorationSkipInk: 'none',
      textUnderlineOffset: '3px',
    },
    '.cm-lintRange-warning': { textDecorationColor: 'var(--warn)' },
    '.cm-placeholder': { color: 'var(--text-soft)' },
    '.cm-completionDetail': { fontStyle: 'normal', opacity: '1' },
    '.cm-deletedChunk': { backgroundColor: 'var(--fault-soft)' },
    '.cm-changedLine': { backgroundColor: 'var(--good-soft) !important' },
  }),
];

/** The editor. Give it a new `key` for another text. */
export function CodeEditor({
  value,
  onChange,
  labelledBy,
  isSingleLine = false,
  isReadOnly = false,
  isFocused = false,
  faults,
  language,
  complete,
  foldsOf = noFolds,
  ref,
}: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef({ onChange, value, foldsOf });
  latest.current = { onChange, value, foldsOf };
  const setup = useRef({ labelledBy, isSingleLine, isReadOnly, isFocused });
  const changing = useRef(new Compartment());

  useEffect(() => {
    const { labelledBy: label, isSingleLine: single, isReadOnly: fixed, isFocused: takesFocus } = setup.current;
    const editor = new EditorView({
      parent: place.current as HTMLElement,
      doc: latest.current.value,
      extensions: [
        ...(single ? [oneLine] : [lineNumbers(), lintGutter(), highlightActiveLine(), folding]),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        changing.current.of([]),
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, ...foldKeymap]),
        editorLook,
        EditorState.readOnly.of(fixed),
        EditorView.contentAttributes.of({ 'aria-labelledby': label, spellcheck: 'true', tabindex: '0' }),
        EditorView.updateListener.of((update) => {
          const text = update.state.doc.toString();
          // The owner already knows text that it set itself.
          if (update.docChanged && text !== latest.current.value) latest.current.onChange(text);
        }),
      ],
    });
    view.current = editor;
    if (takesFocus) {
      editor.dispatch({ selection: { anchor: editor.state.doc.length } });
      editor.focus();
    }
    return () => editor.destroy();
  }, []);

  useEffect(() => {
    const completion = complete === undefined ? [] : autocompletion({ override: [complete], icons: false });
    const extensions = [language, completion];
    view.current?.dispatch({ effects: changing.current.reconfigure(extensions) });
  }, [language, complete]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
    refold(editor, latest.current.foldsOf);
  }, [value]);

  useEffect(() => {
    if (view.current !== null) refold(view.current, foldsOf);
  }, [foldsOf]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const found = faults.flatMap((fault) => toDiagnostic(editor.state, fault));
    editor.dispatch(setDiagnostics(editor.state, found));
    editor.dispatch({
      effects: unfold(editor.state, (fold) => found.some(({ from, to }) => from < fold.to && to > fold.from)),
    });
  }, [faults]);

  useImperativeHandle(ref, () => ({
    insert(text) {
      view.current?.dispatch(view.current.state.replaceSelection(text));
      view.current?.focus();
    },
  }));

  return <div className={isSingleLine ? 'code-editor single' : 'code-editor'} ref={place} />;
}

const noFolds = (): readonly TextRange[] => [];

/** A fold of lines says how many; a click or a move of the cursor into it opens it. */
const folding: Extension = codeFolding({
  preparePlaceholder: ({ doc }, { from, to }) => {
    const lines = doc.lineAt(to).number - doc.lineAt(from).number + 1;
    return lines === 1 ? '…' : `… ${lines} lines …`;
  },
  placeholderDOM: (view, _onClick, words: string) => {
    const element = document.createElement('span');
    element.className = 'cm-foldPlaceholder';
    element.textContent = words;
    element.title = 'Show this code';
    element.onclick = () => {
      const at = view.posAtDOM(element);
      view.dispatch({ effects: unfold(view.state, ({ from }) => from === at) });
    };
    return element;
  },
});

function unfold(state: EditorState, isOpen: (fold: TextRange) => boolean): readonly StateEffect<TextRange>[] {
  const effects: StateEffect<TextRange>[] = [];
  foldedRanges(state).between(0, state.doc.length, (from, to) => {
    if (isOpen({ from, to })) effects.push(unfoldEffect.of({ from, to }));
  });
  return effects;
}

/** Folds these parts and no others. */
function refold(view: EditorView, foldsOf: (text: string) => readonly TextRange[]): void {
  view.dispatch({ effects: unfold(view.state, () => true) });
  view.dispatch({ effects: foldsOf(view.state.doc.toString()).map((fold) => foldEffect.of(fold)) });
}

/** Pasted line breaks are removed. */
const oneLine: Extension = EditorState.transactionFilter.of((transaction) => {
  if (!transaction.docChanged || transaction.newDoc.lines === 1) return transaction;
  const text = transaction.newDoc.toString().replace(/(?<!\s)\s*\n\s*/g, ' ');
  return {
    changes: { from: 0, to: transaction.startState.doc.length, insert: text },
    selection: { anchor: text.length },
  };
});

/** Marks the word at a fault's place: the text may have changed since the check. */
function toDiagnostic({ doc }: EditorState, fault: EditorFault): readonly Diagnostic[] {
  const { message, line, column, length, severity } = fault;
  if (line === null || line > doc.lines) return [];
  const found = doc.line(line);
  const at = Math.min(Math.max(0, (column ?? 1) - 1), found.length);
  const { from, to } = length === null ? wordAt(found.text, at) : { from: at, to: Math.min(at + length, found.length) };
  return [{ from: found.from + from, to: found.from + to, message, severity }];
}

/**
 * The last word that starts at or before a position, because some faults are reported after their word; otherwise the
 * whole line. Blanks that no template may contain count as words.
 */
function wordAt(text: string, at: number): { readonly from: number; readonly to: number } {
  const words = [...text.matchAll(/[\w.$]+|"[^"]*"?|[\u00a0\u2000-\u200b\u202f\ufeff]|[^\s\w.${}"]+/g)];
  const word = words.findLast(({ index }) => index <= at);
  return word === undefined ? { from: 0, to: text.length } : { from: word.index, to: word.index + word[0].length };
}
