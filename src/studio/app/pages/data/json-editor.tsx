/** A JSON value in an editor that marks where it is none. */
import { javascriptLanguage } from '@codemirror/lang-javascript';
import { LanguageSupport } from '@codemirror/language';
import { placeholder } from '@codemirror/view';
import { useMemo } from 'react';
import { CodeEditor, type EditorFault } from '../../components/code-editor.tsx';

interface JsonEditorProps {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly labelledBy: string;
  readonly isReadOnly: boolean;
  readonly isFocused: boolean;
  /** Shown where there is no text. */
  readonly placeholder: string;
}

/** JSON is an expression of JavaScript; the faults are those of JSON. */
const json = new LanguageSupport(javascriptLanguage.configure({ top: 'SingleExpression' }));

/** The editor. */
export function JsonEditor({ text, placeholder: words, ...others }: JsonEditorProps) {
  const faults = useMemo(() => faultsOf(text), [text]);
  const language = useMemo(() => [json, placeholder(words)], [words]);
  return <CodeEditor value={text} faults={faults} language={language} {...others} />;
}

/** The form says what is wrong; some browsers tell the place. */
function faultsOf(text: string): readonly EditorFault[] {
  try {
    if (text !== '') JSON.parse(text);
    return [];
  } catch (error) {
    const { message } = error as Error;
    const place = /line (\d+) column (\d+)/.exec(message);
    if (place === null) return [];
    return [{ message, line: Number(place[1]), column: Number(place[2]), length: 1, severity: 'error' }];
  }
}
