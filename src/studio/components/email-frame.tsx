/**
 * An email as its reader sees it: in a frame without scripts, forms and an origin, whose links open in tabs of their own.
 */
import { withNewTabLinks } from './new-tab-links.ts';

/** @param props.title What the frame is called. */
export function EmailFrame({
  html,
  title,
  width,
}: {
  readonly html: string;
  readonly title: string;
  readonly width?: number;
}) {
  return (
    <iframe
      className="email-frame"
      title={title}
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      referrerPolicy="no-referrer"
      srcDoc={withNewTabLinks(html)}
      style={width === undefined ? undefined : { maxWidth: width }}
    />
  );
}
