/** An email as its recipient sees it: in a frame without scripts, forms and origin, whose links open in new tabs. */
import type { CSSProperties } from 'react';
import { answerColorScheme, type ColorScheme, colorSchemeHead, hasDarkDesign } from './color-scheme.ts';
import { withNewTabLinks } from './new-tab-links.ts';

interface EmailFrameProps {
  readonly html: string;
  readonly title: string;
  readonly scheme?: ColorScheme;
  readonly marksDeadLinks?: boolean;
  readonly style?: CSSProperties;
}

/** The frame. */
export function EmailFrame({ html, title, scheme = 'light', marksDeadLinks = false, style }: EmailFrameProps) {
  const isInverted = scheme === 'dark' && !hasDarkDesign(html);
  const head = `${colorSchemeHead(scheme, isInverted)}${marksDeadLinks ? deadLinkHead : ''}`;
  return (
    <iframe
      className="email-frame"
      data-inverted={isInverted}
      title={title}
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      referrerPolicy="no-referrer"
      srcDoc={withNewTabLinks(answerColorScheme(html, scheme), head)}
      style={style}
    />
  );
}

/** Of links that lead nowhere: their address or their token is empty, because its variable is. */
const deadAddresses = [
  '[href=""]', '[href="#"]', '[href="#ZgotmplZ"]', '[href$="token="]', '[href*="token=&"]', '[href$="token_hash="]',
  '[href*="token_hash=&"]',
]; // biome-ignore format: a list
const dead = `a:is(${deadAddresses.join()})`;

/** Marks them; for the head of the email. */
const deadLinkHead = `<style>
${dead} { outline: 2px dashed #c62828 !important; outline-offset: 2px !important }
${dead}::after { content: " leads nowhere" !important; color: #c62828 !important; background: #fff !important }
</style>`;
