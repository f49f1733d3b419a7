/** The preview of an email on a desktop or phone screen, in light or dark colors. */
import { useEffect, useRef, useState } from 'react';
import { hasDarkDesign } from '../../components/color-scheme.ts';
import { EmailFrame } from '../../components/email-frame.tsx';

/** Widths in pixels: of a phone, and the smallest that a desktop mail program gives an email. */
const phoneWidth = 375;
const desktopWidth = 720;

interface ScreenProps {
  readonly html: string;
  readonly isPhone: boolean;
  readonly isDark: boolean;
  /** A page of a browser, which inverts no colors. */
  readonly isPage?: boolean;
}

/** The email at its usual width, scaled down if there is less room. */
export function Screen({ html, isPhone, isDark, isPage = false }: ScreenProps) {
  const isDesigned = hasDarkDesign(html);
  const place = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState({ width: desktopWidth, height: 0 });
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setRoom(entry.contentRect);
    });
    observer.observe(place.current as HTMLElement);
    return () => observer.disconnect();
  }, []);
  const width = isPhone ? phoneWidth : Math.max(desktopWidth, room.width);
  const scale = Math.min(1, room.width / width);
  const style = {
    width,
    height: room.height / scale,
    left: (room.width - width * scale) / 2,
    transform: `scale(${scale})`,
  };
  return (
    <>
      <div className="screen" ref={place}>
        <EmailFrame
          html={html}
          title={isPage ? 'Preview of the page' : 'Preview of the email'}
          scheme={isDark && (isDesigned || !isPage) ? 'dark' : 'light'}
          style={style}
          marksDeadLinks={!isPage}
        />
      </div>
      {isDark && <p className="soft small">{darkNote(isPage, isDesigned)}</p>}
    </>
  );
}

function darkNote(isPage: boolean, isDesigned: boolean): string {
  if (isPage)
    return isDesigned ? 'With the dark design of the page.' : 'The page has no dark design and stays as it is.';
  return isDesigned
    ? 'With the dark design of the email.'
    : 'The email has no dark design. Mail programs leave its colors or invert them, as here.';
}
