import { parseTemplate, renderTemplate } from '/work/h/me/src/embed/go-templates.ts';

const template = parseTemplate('<a href="{{ .URL }}">{{ .Name }}</a>', { kind: 'html' });
export const html = renderTemplate(template, { URL: 'javascript:alert(1)', Name: '<b>Tent</b>' });
