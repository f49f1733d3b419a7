/**
 * An email as its recipient sees it: in a frame without scripts, forms and origin, whose links open in new tabs.
 */
import type { CSSProperties } from 'react';
import { answerColorScheme, type ColorScheme, colorSchemeHead, hasDarkDesign } from './color-scheme.ts';
import { withNewTabLinks } from './new-tab-links.ts';

interface EmailFrameProps {
  readonly html: string;
  /** Name of the frame. */
  readonly title: string;
  readonly scheme?: ColorScheme;
  readonly style?: CSSProperties;
}

/** The frame. */
export function EmailFrame({ html, title, scheme = 'light', style }: EmailFrameProps) {
  const isInverted = scheme === 'dark' && !hasDarkDesign(html);
  return (
    <iframe
      className="email-frame"
      data-inverted={isInverted}
      title={title}
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      referrerPolicy="no-referrer"
      srcDoc={withNewTabLinks(answerColorScheme(html, scheme), colorSchemeHead(scheme, isInverted))}
      style={style}
    />
  );
}
