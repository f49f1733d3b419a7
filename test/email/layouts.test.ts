/**
 * Layouts and partials: how a template is put together, and what authors get wrong.
 */
import { describe, expect, test } from 'vitest';
import { type AuthValues, layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import type { EmailKind } from '../../src/config/auth/email-kinds.ts';
import { emailKindNames } from '../../src/config/auth/email-kinds.ts';
import { parseTemplate, renderTemplate, type TemplateOptions } from '../../src/email/engine/template.ts';
import { TemplateError } from '../../src/email/engine/template-error.ts';
import { buildMessage } from '../../src/email/message/message.ts';
import { toPlainText } from '../../src/email/message/plain-text.ts';
import { processorMs } from '../../src/management/templates/rendering-time.ts';
import { sampleData } from '../support/email.ts';

const page = '<!doctype html><body>{{ template "content" . }}<hr></body>';

function render(source: string, options: Partial<TemplateOptions> = {}, data: object = {}): string {
  return renderTemplate(parseTemplate(source, { kind: 'html', ...options }), data as Record<string, unknown>);
}

/** What is wrong with it, with its place in the source. */
function problem(source: string, options: Partial<TemplateOptions> = {}): string {
  try {
    render(source, options);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return error.line === null ? error.message : `${error.line}:${error.column} ${error.message}`;
  }
  return 'none';
}

function build(values: AuthValues, kind: EmailKind = 'recovery') {
  return buildMessage(kind, layerAuthConfig({ site_url: 'https://app.test', ...values }), sampleData);
}

describe('a layout', () => {
  test('a layout goes around a body that is no whole page', () => {
    expect(render('<p>a</p>', { layout: page })).toBe('<!doctype html><body><p>a</p><hr></body>');
    for (const whole of ['<!DOCTYPE html><p>a</p>', '\n <html lang="de"><p>a</p></html>'])
      expect(render(whole, { layout: page })).toBe(whole);
  });

  test('a layout gives the body all variables, and may have templates of its own', () => {
    const layout = '{{ define "end" }}<b>{{ . }}</b>{{ end }}{{ template "content" . }}{{ template "end" .Name }}';
    expect(render('<i>{{ .Name }}{{ $.Name }}</i>', { layout }, { Name: 'A&B' })).toBe(
      '<i>A&amp;BA&amp;B</i><b>A&amp;B</b>',
    );
  });

  test.each([
    ['<p>no content</p>', 'the layout must use {{ template "content" . }} exactly once'],
    ['{{ template "content" . }}{{ if .A }}{{ template "content" . }}{{ end }}', 'the layout must use {{ template "content" . }} exactly once'],
    ['{{ template "content" }}', 'the layout must use {{ template "content" . }} exactly once'],
    ['{{ template "content" .Brand }}', 'the layout must use {{ template "content" . }} exactly once'],
    ['{{ range .Items }}{{ template "content" . }}{{ end }}', 'the layout must use {{ template "content" . }} at its top level'],
    ['{{ if .A }}{{ template "content" . }}{{ end }}', 'the layout must use {{ template "content" . }} at its top level'],
    ['{{ define "a" }}{{ template "content" . }}{{ end }}{{ template "a" . }}', 'the layout must use {{ template "content" . }} at its top level'],
    ['{{ define "content" }}x{{ end }}{{ template "content" . }}', 'the name "content" stands for the content in the layout'],
    ['<p>\n{{ if }}{{ template "content" . }}', 'in the layout, line 2: missing value for if'],
    ['\n{{ template "content" . }}{{ template "gone" . }}', 'in the layout, line 2: no such template "gone"'],
  ])('%j is refused: %s', (layout, message) => {
    expect(problem('<p>a</p>', { layout })).toContain(message);
  }); // biome-ignore format: a table

  test.each([
    '{{ template "content" . }}',
    '{{ if .A }}{{ template "content" . }}{{ end }}',
    '{{ define "a" }}{{ template "content" . }}{{ end }}',
    '{{ template "whole" . }}',
    '{{ template "content" . }}{{ block "content" . }}{{ end }}',
  ])('a layout is the only place of the content, not the content itself or a partial: %s', (content) => {
    const partials = { whole: '<b>{{ template "content" . }}</b>' };
    expect(problem(`<p>\n${content}`, { layout: page, partials })).toMatch(/content/);
    expect(problem('<p>', { layout: `${page}{{ template "whole" . }}`, partials })).toBe(
      'in the partial "whole", line 1: only the layout uses {{ template "content" . }}',
    );
  });

  test('a layout goes around no whole page, whatever comments stand before it', () => {
    const comments = '{{/* check: ignore missing-alt */}}\n<!-- a --> {{- /* <p> */ -}}\n';
    expect(render(`${comments}<html>a`, { layout: page })).toMatch(/^\s*<html>a$/);
    for (const body of ['{{/* a */}}<p>', '<!-- <html> -->', '{{ "<html>" }}', '<htmlx>'])
      expect(render(body, { layout: '[{{ template "content" . }}]' })).toMatch(/^\[.*\]$/);
    const many = `${'<!-- a -->{{/* b */}}'.repeat(20_000)}<p>`;
    const startMs = processorMs();
    render(many, { layout: page, maxMs: 10_000 });
    expect(processorMs() - startMs).toBeLessThan(3000);
  });

  test('a layout goes around the built-in emails, too, and around their text part', async () => {
    const mailer_layout_content =
      '<html lang="en"><body><p>From {{ .Brand.Name }}</p>{{ template "content" . }}</body></html>';
    for (const kind of emailKindNames) {
      const { html } = build({ mailer_layout_content }, kind);
      expect(html).toMatch(/^<html lang="en"><body><p>From app\.test<\/p><h1/);
      expect(html).not.toContain('<!doctype');
    }
    const text = await toPlainText(build({ mailer_layout_content }).html);
    expect(text).toMatch(/^From app\.test\n\nReset your password\n\nWe received/);
  });

  test('a layout leaves subjects, text parts and the earlier built-in pages alone', () => {
    const values = { mailer_layout_content: page, mailer_subjects_recovery: 'S', mailer_templates_recovery_text: 'T' };
    expect(build(values)).toMatchObject({ subject: 'S', text: 'T' });
    expect(build({ mailer_layout_content: page, mailer_compatible: true }).html).not.toContain('<hr>');
  });
});

describe('a partial', () => {
  const partials = {
    button: '<a href="{{ . }}">Go</a>',
    twice: '{{ template "button" . }}{{ template "button" . }}',
    name: '{{ .Name }}',
  };

  test('a partial is used by its name, with any value', () => {
    expect(render('{{ template "button" .Link }}', { partials }, { Link: 'https://a.test/?b&c' })).toBe(
      '<a href="https://a.test/?b&amp;c">Go</a>',
    );
    expect(render('{{ template "twice" "x" }}', { partials })).toBe('<a href="x">Go</a><a href="x">Go</a>');
  });

  test('a partial escapes for its place of use', () => {
    const source =
      '{{ template "name" . }}<a href="/?q={{ template "name" . }}" style="color: {{ template "name" . }}">';
    expect(render(source, { partials }, { Name: '"><script>' })).toBe(
      '&#34;&gt;&lt;script&gt;<a href="/?q=%22%3e%3cscript%3e" style="color: ZgotmplZ">',
    );
    expect(render('{{ template "name" . }}', { partials, kind: 'text' }, { Name: '<b>' })).toBe('<b>');
  });

  test('a partial is replaced by a template of the same name in the email', () => {
    expect(render('{{ define "name" }}own{{ end }}{{ template "name" . }}', { partials })).toBe('own');
  });

  test('a partial may be used by the layout and by the body in it', () => {
    const layout = '{{ template "content" . }} {{ template "name" . }}';
    expect(render('{{ template "name" . }}', { partials, layout }, { Name: 'N' })).toBe('N N');
  });

  test.each([
    ['\n{{ template "buton" . }}', '2:13 no such template "buton"'],
    ['{{ template "self" . }}', 'the partial "self" contains itself'],
    ['{{ template "a" . }}', 'the partial "a" contains itself'],
    ['{{ define "x" }}{{ if .A }}{{ template "through" . }}{{ end }}{{ end }}{{ template "through" . }}', 'the partial "through" contains itself'],
    ['{{ template "open" . }}', 'in the partial "open", line 2: unexpected EOF'],
    ['{{ template "attribute" . }}', 'in the partial "attribute"'],
    ['{{ template "toString" . }}', '1:13 no such template "toString"'],
  ])('%j is refused: %s', (source, message) => {
    const faulty = {
      self: '<p>{{ template "self" . }}</p>', a: '{{ template "b" . }}', b: '{{ if . }}{{ template "a" . }}{{ end }}',
      through: '{{ template "x" . }}',
      open: '\n{{ if . }}', attribute: '<a href={{ . }}{{ if . }}"{{ end }}>',
    };
    expect(problem(source, { partials: faulty })).toContain(message);
  }); // biome-ignore format: a table

  test.each([
    ['{{ define "content" }}x{{ end }}', 'in the partial "a"', '"content"'],
    ['{{ define "b" }}x{{ end }}', 'in the partial "a"', '"b"'],
    ['{{ define "own" }}x{{ end }}', 'in the partial "a"', '"own"'],
  ])('a partial does not change other templates: %s', (a, ...expected) => {
    const all = { a, b: 'B' };
    const source = '{{ define "own" }}O{{ end }}{{ template "a" . }}{{ template "b" . }}';
    const said = problem(source, { partials: all, layout: page });
    for (const part of expected) expect(said).toContain(part);
    expect(said).toContain('already');
  });

  test('a partial says at rendering where a value has a wrong type', () => {
    const source = '{{ template "p" . }}';
    expect(problem(source, { partials: { p: '\n\n{{ index .A 0 }}' } })).toContain('in the partial "p", line 3:');
  });

  test('that is not used is not parsed, so it may have mistakes', () => {
    expect(render('a', { partials: { broken: '{{ if }}' } })).toBe('a');
  });
});
