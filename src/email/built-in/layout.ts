/**
 * The look of the built-in emails: a card of 560 pixels that a phone fills, in light and dark.
 *
 * Tables and inline styles, because Outlook knows little else; the style block has only what may be missing. No image,
 * script or font is loaded, except the logo if there is one. All colors have a contrast of 4.5:1 or more.
 */

/** What an email shows. Texts are HTML in the template language. */
interface BodyParts {
  readonly heading: string;
  readonly lead: string;
  /** Null: no button. */
  readonly button: string | null;
  /** The line above the code; null: nothing. */
  readonly codeLine: string | null;
  readonly hasCode: boolean;
  readonly end: readonly string[];
}

const font = "font-family: -apple-system, 'Segoe UI', Roboto, 'Hiragino Sans', 'Noto Sans JP', Arial, sans-serif";
const table = 'role="presentation" cellpadding="0" cellspacing="0" border="0"';

/** What the email says, for any layout. */
export function printBody({ heading, lead, button, codeLine, hasCode, end }: BodyParts): string {
  return [
    `<h1 class="ink" style="margin: 0 0 16px; ${font}; font-size: 22px; line-height: 30px; color: #18181b">${heading}</h1>`,
    paragraph(lead),
    ...(button === null ? [] : [buttonOf(button)]),
    ...(codeLine === null ? [] : [paragraph(codeLine)]),
    ...(hasCode ? [code] : []),
    ...end.map(paragraph),
  ].join('\n');
}

/** The whole document around a body. @param page.locale Its language, as in `lang`. */
export function layOut(
  body: string,
  { locale, heading }: { readonly locale: string; readonly heading: string },
): string {
  return `<!doctype html>
<html lang="${locale}" dir="ltr">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="supported-color-schemes" content="light dark">
  <meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
  <title>${heading}</title>
  <style>
    :root { color-scheme: light dark; supported-color-schemes: light dark; }
    @media (prefers-color-scheme: dark) {
      .page { background-color: #0e0e10 !important; }
      .card { background-color: #1c1c1f !important; border-color: #3f3f46 !important; }
      .ink { color: #f4f4f5 !important; }
      .soft { color: #a1a1aa !important; }
      .code { background-color: #0e0e10 !important; }
      .button { border-color: #71717a !important; }
    }
  </style>
</head>
<body class="page" style="margin: 0; padding: 0; background-color: #f4f4f5">
<table ${table} width="100%" class="page" lang="${locale}" dir="ltr" style="width: 100%; table-layout: fixed; background-color: #f4f4f5">
<tr><td align="center" style="padding: 24px 8px">
<table ${table} width="560" class="card" style="width: 560px; max-width: 100%; background-color: #ffffff; border: 1px solid #e4e4e7; border-radius: 12px; border-collapse: separate">
<tr><td align="left" style="padding: 28px 24px; word-break: break-word">
${brand}
${body}
</td></tr>
</table>
<table ${table} width="560" style="width: 560px; max-width: 100%">
<tr><td align="center" style="padding: 16px 24px; word-break: break-word">
${footer}
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

/** The whole document without a look, for `mailer_compatible`. */
export function printPlain({ heading, lead, button, codeLine, hasCode, end }: BodyParts): string {
  const token = '<strong style="font-size: 20px; letter-spacing: 2px">{{ .Token }}</strong>';
  const texts = [
    lead,
    ...(button === null ? [] : [`<a href="{{ .ConfirmationURL }}">${button}</a>`]),
    ...(hasCode ? [`${codeLine ?? ''} ${token}`.trim()] : []),
    ...end,
  ];
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>${heading}</title>
</head>
<body style="max-width: 560px; margin: 0 auto; padding: 24px; font: 16px/1.5 sans-serif; color: #1c1c1c">
  <h1 style="font-size: 20px">${heading}</h1>
${texts.map((text) => `  <p>${text}</p>`).join('\n')}
</body>
</html>
`;
}

/** The document as a layout of any body. */
export const layoutTemplate = (): string =>
  layOut('{{ template "content" . }}', { locale: '{{ .Locale }}', heading: '{{ .Brand.Name }}' });

const brand = `<p class="ink" style="margin: 0 0 24px; ${font}; font-size: 15px; line-height: 24px; font-weight: bold; color: #18181b">{{ if .Brand.LogoURL }}<img src="{{ .Brand.LogoURL }}" alt="{{ .Brand.Name }}" height="32" style="border: 0; vertical-align: middle">{{ else }}{{ .Brand.Name }}{{ end }}</p>`;

const footer = `<p class="soft" style="margin: 0; ${font}; font-size: 13px; line-height: 20px; color: #52525b">{{ with .Brand.Footer }}<span style="white-space: pre-line">{{ . }}</span><br>{{ end }}{{ .SiteURL }}</p>`;

function paragraph(text: string): string {
  return `<p class="ink" style="margin: 0 0 16px; ${font}; font-size: 16px; line-height: 24px; color: #18181b">${text}</p>`;
}

/** A table cell, because Outlook paints no other box; there, the cell has the space that others give the link. */
function buttonOf(action: string): string {
  return `<table ${table} style="margin: 8px 0 24px; border-collapse: separate">
<tr><td align="center" class="button" bgcolor="{{ .Brand.Color }}" style="background-color: {{ .Brand.Color }}; border: 1px solid {{ .Brand.Color }}; border-radius: 8px; mso-padding-alt: 14px 28px"><a href="{{ .ConfirmationURL }}" style="display: block; padding: 14px 28px; ${font}; font-size: 16px; line-height: 20px; font-weight: bold; color: {{ .Brand.OnColor }}; text-decoration: none">${action}</a></td></tr>
</table>`;
}

/** An image for screen readers, whose name has blanks between the digits: they would read one large number. */
const code = `<p class="ink code" role="img" aria-label="{{ .SpelledToken }}" style="margin: 0 0 24px; padding: 12px 8px; border-radius: 8px; background-color: #f4f4f5; font-family: Menlo, Consolas, monospace; font-size: 28px; line-height: 36px; font-weight: bold; letter-spacing: 4px; text-align: center; color: #18181b">{{ .Token }}</p>`;
