/**
 * The preview of an email on a desktop or phone screen, in light or dark colors.
 */
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
}

/** The email at its usual width, scaled down if there is less room. */
export function Screen({ html, isPhone, isDark }: ScreenProps) {
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
    ...{ width, height: room.height / scale, left: (room.width - width * scale) / 2 },
    transform: `scale(${scale})`,
  };
  return (
    <>
      <div className="screen" ref={place}>
        <EmailFrame
          html={html}
          title="Preview of the email"
          scheme={isDark ? 'dark' : 'light'}
          style={style}
          marksDeadLinks
        />
      </div>
      {isDark && (
        <p className="soft small">
          {hasDarkDesign(html)
            ? 'With the dark design of the email.'
            : 'The email has no dark design. Mail programs leave its colors or invert them, as here.'}
        </p>
      )}
    </>
  );
}
