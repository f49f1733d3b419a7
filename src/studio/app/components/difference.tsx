/** What differs between two texts, line by line: red only in the first, green only in the second. */
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { editorLook } from './code-editor.tsx';
import './versions.css';

interface DifferenceProps {
  readonly before: string;
  readonly after: string;
  readonly label: string;
  readonly language?: Extension;
}

/** Read only. */
export function Difference({ before, after, label, language = [] }: DifferenceProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const view = new EditorView({
      parent: place.current as HTMLElement,
      doc: after,
      extensions: [
        lineNumbers(),
        language,
        editorLook,
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: { margin: 2, minSize: 6 } }),
      ],
    });
    return () => view.destroy();
  }, [before, after, label, language]);
  if (before === after) return <p className="notice">No differences.</p>;
  return <div className="difference" ref={place} />;
}
