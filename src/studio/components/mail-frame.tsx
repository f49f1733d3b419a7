/**
 * An email as its reader sees it: in a frame without scripts, forms and an origin, whose links open in tabs of their own.
 */

/** @param props.title What the frame is called. */
export function MailFrame({
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
      className="mail-frame"
      title={title}
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      referrerPolicy="no-referrer"
      srcDoc={withLinksOutside(html)}
      style={width === undefined ? undefined : { maxWidth: width }}
    />
  );
}

/** The frame could not show where links lead. */
function withLinksOutside(html: string): string {
  const base = '<base target="_blank">';
  const head = /<head(\s[^>]*)?>/i.exec(html);
  if (head !== null) return html.slice(0, head.index + head[0].length) + base + html.slice(head.index + head[0].length);
  const doctype = /^\s*<!doctype[^>]*>/i.exec(html)?.[0] ?? '';
  return doctype + base + html.slice(doctype.length);
}
