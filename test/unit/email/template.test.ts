/**
 * What the engine promises beyond Go: safety from data and from templates, places of faults, options.
 */
import { describe, expect, test } from 'vitest';
import { decodeCss } from '../../../src/email/engine/escape/escape-css.ts';
import { decodeBytes } from '../../../src/email/engine/parse/constants.ts';
import {
  parseTemplate,
  renderTemplate,
  type TemplateData,
  type TemplateOptions,
  templateVariables,
} from '../../../src/email/engine/template.ts';
import { TemplateError, type TemplatePlace, templateErrorCodes } from '../../../src/email/engine/template-error.ts';
import { formatFloat } from '../../../src/email/engine/values/format-float.ts';

function html(source: string, data: TemplateData = {}, options: Partial<TemplateOptions> = {}): string {
  return renderTemplate(parseTemplate(source, { kind: 'html', ...options }), data);
}

function text(source: string, data: TemplateData = {}): string {
  return renderTemplate(parseTemplate(source, { kind: 'text' }), data);
}

function faultOf(run: () => unknown): TemplateError {
  try {
    run();
  } catch (error) {
    if (error instanceof TemplateError) return error;
    throw error;
  }
  throw new Error('no fault');
}

describe('a template sees its data and nothing else', () => {
  test('what hangs on every JavaScript object is a missing key', () => {
    for (const key of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', 'length', 'prototype']) {
      expect(text(`[{{ .Data.${key} }}{{ .${key} }}{{ index .Data "${key}" }}]`, { Data: {} })).toBe('[]');
      expect(text(`{{ with .Data.${key} }}yes{{ else }}no{{ end }}`, { Data: { list: [] } })).toBe('no');
    }
  });

  test('an own key with such a name is a key like any other', () => {
    const data = JSON.parse('{"__proto__":{"constructor":"own"}}') as TemplateData;
    expect(text('{{ .__proto__.constructor }} {{ . }}', data)).toBe('own map[__proto__:map[constructor:own]]');
  });

  test('getters of classes, functions, symbols and dates are no data', () => {
    class Secret {
      get password() {
        return 'hunter2';
      }
    }
    const data = {
      secret: new Secret(),
      call: () => 'called',
      date: new Date(0),
      symbol: Symbol('x'),
      list: [() => 1],
    };
    expect(text('{{ .secret.password }}{{ .call }}{{ .date }}{{ .symbol }}{{ .list }}', data)).toBe('[<nil>]');
  });

  test('maps and objects without a prototype are maps', () => {
    const data = {
      map: new Map([
        ['b', 2],
        ['a', 1],
      ]),
      bare: Object.assign(Object.create(null), { x: 'y' }),
    };
    expect(text('{{ .map }}{{ .map.a }}{{ len .map }}{{ range $k, $v := .bare }}{{ $k }}{{ $v }}{{ end }}', data)).toBe(
      'map[a:1 b:2]12xy',
    );
  });

  test('rendering changes nothing of the data', () => {
    const data = { list: Object.freeze([3, 1, 2]), map: Object.freeze({ b: 1, a: 2 }) };
    expect(text('{{ slice .list 1 }}{{ .map }}{{ range $i, $x := .list }}{{ $x = 9 }}{{ end }}', data)).toBe(
      '[1 2]map[a:2 b:1]',
    );
    expect(data).toEqual({ list: [3, 1, 2], map: { b: 1, a: 2 } });
  });

  test('numbers are floats, also infinite ones and big integers', () => {
    const data = { huge: Number.POSITIVE_INFINITY, tiny: Number.NEGATIVE_INFINITY, big: 10n };
    expect(text('{{ .huge }} {{ .tiny }} {{ eq .big 10.0 }} {{ printf "%08.2f" .huge }}', data)).toBe(
      '+Inf -Inf true     +Inf',
    );
    expect(html('<script>f({{ .huge }})</script>', data)).toBe(
      '<script>f( /* json: unsupported value: +Inf */null )</script>',
    );
  });

  test('half a character is no character, in a value, in a key and in the template', () => {
    const broken = { value: 'a\ud800b', map: { '\udc00': 1 } };
    expect(text('{{ .value }}{{ .map }}{{ len .value }}', broken)).toBe('a\ufffdbmap[\ufffd:1]5');
    expect(text('\ud800{{ "\udfff" }}')).toBe('\ufffd\ufffd');
    expect(text('{{ slice "é" 0 1 }}{{ slice "日本" 1 4 }}')).toBe('\ufffd\ufffd\ufffd\ufffd');
  });
});

describe('metadata cannot break out of its place', () => {
  const attacks = [
    '"><script>alert(1)</script>', "' onmouseover='alert(1)", '</script><script>alert(1)//', '--><b>', `\`$\{alert(1)}\``,
    '{{ .SiteURL }}', '\u2028alert(1)', 'javascript:alert(1)', '</style><b>', '\\', '*/alert(1)/*', ' onload=alert(1)',
  ]; // biome-ignore format: a list

  test.each(attacks)('%s', (attack) => {
    const template =
      '<p>{{ .X }}<a href="{{ .X }}" title=\'{{ .X }}\' id={{ .X }} onclick="f({{ .X }}, \'{{ .X }}\')" style="a: {{ .X }}">' +
      '</a><!-- {{ .X }} --><script>f({{ .X }}, "{{ .X }}", `{{ .X }}`, /{{ .X }}/) /* {{ .X }} */</script>' +
      '<style>a { b: {{ .X }}; c: "{{ .X }}" }</style><title>{{ .X }}</title></p>';
    const safe = html(template, { X: 'x' });
    const attacked = html(template, { X: attack });
    const skeleton = (page: string) => page.match(/<\/?[a-z]+|<!--|-->/g);
    expect(skeleton(attacked)).toEqual(skeleton(safe));
    expect(attacked).not.toContain('href="javascript');
  });

  test('every call of a template that opens an attribute is escaped for it', () => {
    const source =
      '{{ define "o" }}<a href="{{ end }}{{ template "o" }}{{ .X }}">1</a>{{ template "o" }}{{ .X }}">2</a>';
    expect(html(source, { X: 'javascript:x' })).toBe('<a href="#ZgotmplZ">1</a><a href="#ZgotmplZ">2</a>');
  });
});

describe('faults', () => {
  test.each([
    ['a\nb {{ if .X }}\n{{ shout .X }}', 'unknown_function', 3, 4],
    ['a\n\n{{ $x }}', 'unknown_variable', 3, 4],
    ['{{ define "a" }}x{{ end }}\n{{ define "a" }}y{{ end }}', 'duplicate_template', 2, 25],
    ['x\n  {{ .X', 'syntax', 2, 8],
    [`${'{{ if .X }}'.repeat(600)}`, 'nested_too_deep', 1, 5506],
    ['<p title="x">\n<a href="', 'open_markup', null, null],
    ['a\n<p "', 'bad_markup', 2, 3],
    ['<script>\n"a\\{{ .X }}"</script>', 'bad_script', 2, 2],
    ['a\n{{ if .X }}<a href="{{ end }}', 'branches_differ', 2, 7],
    ['<a href="{{ if .X }}/{{ end }}\n{{ .X }}">', 'ambiguous_url', 2, 4],
    ['<script>x = {{ if .X }}a{{ else }}={{ end }}\n/1/</script>', 'ambiguous_slash', 1, 45],
    ['\n{{ .X | html | print }}', 'misplaced_escaper', 2, 4],
    ['\n{{ template "x" }}', 'unknown_template', 2, 13],
  ] as const)('%j is found when it is parsed: %s', (source, code, line, column) => {
    const fault = faultOf(() => parseTemplate(source, { kind: 'html' }));
    expect(fault).toMatchObject({ code });
    expect(fault.phase).toBe(templateErrorCodes[code]);
    expect(fault.phase).not.toBe('exec');
    if (line === null || code !== 'nested_too_deep')
      expect({ line: fault.line, column: fault.column }).toEqual({ line, column });
  });

  test('a recursive template must end where it began', () => {
    const source = '{{ define "r" }}<a href="{{ if .X }}{{ template "r" . }}{{ end }}';
    expect(faultOf(() => parseTemplate(`${source}{{ end }}{{ template "r" . }}`, { kind: 'html' })).phase).toBe(
      'escape',
    );
    const endless = '{{ define "r" }}{{ template "r" . }}<a href="{{ end }}{{ template "r" . }}';
    expect(faultOf(() => parseTemplate(endless, { kind: 'html' })).code).toBe('unstable_recursion');
  });

  test.each([
    ['\n{{ .X.y }}', 'wrong_value', 2, 4],
    ['{{ .X }}\n\n   {{ if eq .X 1 }}{{ end }}', 'wrong_value', 3, 10],
    ['{{ not }}', 'wrong_arguments', 1, 4],
    ['\n{{ $x = 1 }}', 'unset_variable', 2, 9],
    ['{{ $x = 1 }}', 'unset_variable', 1, 9],
  ] as const)('%j is found when it is rendered: %s', (source, code, line, column) => {
    const template = parseTemplate(source, { kind: 'html' });
    expect(faultOf(() => renderTemplate(template, { X: 'text' }))).toMatchObject({ code, phase: 'exec', line, column });
  });

  test('in a subject a call of an undefined template fails when it is reached', () => {
    const template = parseTemplate('{{ if .X }}{{ template "nope" }}{{ end }}', { kind: 'text' });
    expect(renderTemplate(template, {})).toBe('');
    expect(faultOf(() => renderTemplate(template, { X: 1 })).code).toBe('missing_template');
  });
});

describe('limits', () => {
  const fails = (source: string, data: TemplateData = {}, limits = {}) =>
    faultOf(() => renderTemplate(parseTemplate(source, { kind: 'html' }), data, limits)).code;

  test('output is bounded in bytes', () => {
    expect(fails('{{ range 5000 }}{{ $.X }}{{ end }}', { X: 'é'.repeat(200) })).toBe('output_limit');
    const template = parseTemplate('é{{ .X }}', { kind: 'html' });
    expect(renderTemplate(template, { X: 'éé' }, { maxOutputBytes: 6 })).toBe('ééé');
    expect(faultOf(() => renderTemplate(template, { X: 'ééé' }, { maxOutputBytes: 6 })).code).toBe('output_limit');
    for (const character of ['a', 'é', '日', '😀']) {
      const bytes = Buffer.byteLength(character) * 100;
      const all = (maxOutputBytes: number) =>
        renderTemplate(
          parseTemplate('{{ range 100 }}{{ $.X }}{{ end }}', { kind: 'text' }),
          { X: character },
          { maxOutputBytes },
        );
      expect(all(bytes)).toBe(character.repeat(100));
      expect(faultOf(() => all(bytes - 1)).code).toBe('output_limit');
    }
  });

  test('values that are never printed are bounded too', () => {
    expect(fails('{{ $x := "abcdefgh" }}{{ range 40 }}{{ $x = print $x $x }}{{ end }}')).toBe('output_limit');
    expect(fails(`{{ $x := printf "${'%1000000[1]d'.repeat(10)}" 1 }}`)).toBe('output_limit');
    const format = '%[1]v'.repeat(10_000);
    expect(fails(`{{ $x := printf "${format}" .X }}`, { X: 'x'.repeat(10_000) })).toBe('output_limit');
  });

  test('ranges are bounded together', () => {
    expect(fails('{{ range 9223372036854775807 }}{{ end }}')).toBe('iteration_limit');
    expect(fails('{{ range 101 }}{{ range 100 }}{{ end }}{{ end }}')).toBe('iteration_limit');
    expect(html('{{ range 100 }}{{ range 99 }}{{ end }}{{ end }}')).toBe('');
  });

  test('recursion is bounded, and 900 templates in each other are fine', () => {
    expect(fails('{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}')).toBe('depth_limit');
    let data: TemplateData = {};
    for (let depth = 0; depth < 900; depth += 1) data = { next: data };
    const source =
      '{{ define "a" }}{{ if . }}{{ with .next }}{{ range 1 }}{{ end }}{{ template "a" . }}{{ else }}end{{ end }}{{ end }}{{ end }}';
    expect(html(`${source}{{ template "a" . }}`, data)).toBe('end');
  });

  test('deeply nested data and sources end in a fault, not in a crash', () => {
    let deep: unknown = 'x';
    for (let depth = 0; depth < 200_000; depth += 1) deep = [deep];
    expect(fails('{{ .X }}', { X: deep })).toBe('depth_limit');
    const calls = Array.from({ length: 20_000 }, (_, n) => `{{define "${n}"}}{{template "${n + 1}"}}{{end}}`).join('');
    expect(faultOf(() => html(`${calls}{{define "20000"}}{{end}}{{template "0"}}`)).code).toBe('nested_too_deep');
    expect(faultOf(() => html(`{{ ${'('.repeat(50_000)}`)).code).toBe('nested_too_deep');
  });

  test('time is bounded', () => {
    const doubling = Array.from(
      { length: 60 },
      (_, n) => `{{ define "t${n}" }}{{ template "t${n + 1}" }}{{ template "t${n + 1}" }}{{ end }}`,
    );
    expect(fails(`${doubling.join('')}{{ define "t60" }}{{ end }}{{ template "t0" }}`, {}, { maxMs: 30 })).toBe(
      'time_limit',
    );
  });

  test('the time of the reading is bounded', () => {
    const literals = `<script>${'`${'.repeat(50_000)}`;
    const fault = faultOf(() => parseTemplate(literals, { kind: 'html', maxMs: 30 }));
    expect(fault).toMatchObject({ code: 'parse_limit', phase: 'parse' });
  });

  test('working out the contexts is bounded', () => {
    const nested = `<a href="${'{{ range .X }}{{ if .Y }}?{{ end }}'.repeat(60)}${'{{ end }}'.repeat(60)}`;
    expect(faultOf(() => parseTemplate(nested, { kind: 'html' })).phase).toBe('escape');
  });
});

test.each([1, 24, 25, 26, 49, 50, 51, 120])('bodies that are nested %i levels deep run as others do', (levels) => {
  const nest = (open: string, inside: string) => `${open.repeat(levels)}${inside}${'{{ end }}'.repeat(levels)}`;
  const data = { A: { A: 'a' }, X: 'x', L: ['1', '2'] };
  expect(text(nest('{{ if .X }}', '{{ .X }}'), data)).toBe('x');
  expect(text(nest('{{ with $x := .X }}', '{{ $x }}').replaceAll('.X', '$.X'), data)).toBe('x');
  const called = nest('{{ if .A }}', '{{ $x := .X }}{{ template "a" .A }}{{ $x }}');
  expect(text(`{{ define "a" }}{{ range $.B }}no{{ else }}({{ .A }}){{ end }}{{ end }}${called}`, data)).toBe('(a)x');
  expect(text(`{{ define "a" }}({{ .A }}){{ end }}${called}`, data)).toBe('(a)x');
  const left = nest('{{ if .X }}', '{{ range .L }}{{ . }}{{ break }}{{ end }}');
  expect(text(left, data)).toBe('1');
  const fails = faultOf(() => text(nest('{{ if .X }}', '\n{{ .X.Y }}'), data));
  expect([fails.code, fails.line]).toEqual(['wrong_value', 2]);
});

describe('options', () => {
  test('further schemes may be allowed for links into apps', () => {
    const source = '<a href="{{ .X }}"><img srcset="{{ .X }} 1x">';
    expect(html(source, { X: 'myapp://in' })).toBe('<a href="#ZgotmplZ"><img srcset="#ZgotmplZ 1x">');
    expect(html(source, { X: 'MyApp://in' }, { extraUrlSchemes: ['myapp'] })).toBe(
      '<a href="MyApp://in"><img srcset="MyApp://in 1x">',
    );
  });

  test('comments for mail clients may be kept, with their actions escaped as text', () => {
    const source = '<p><!-- x --><!--[if mso]><a href="{{ .X }}"><![endif]-->y<!--[if !mso]><!-->z<!--<![endif]--></p>';
    expect(html(source, { X: '<&-->' }, { keepConditionalComments: true })).toBe(
      '<p><!--[if mso]><a href="&lt;&amp;--&gt;"><![endif]-->y<!--[if !mso]><!-->z</p>',
    );
    expect(html(source, { X: '<' })).toBe('<p>yz</p>');
  });

  const leniently = (source: string, data: TemplateData) => {
    const warnings: string[] = [];
    const onWrongValue = (message: string, { line, column }: TemplatePlace) =>
      void warnings.push(`${line}:${column} ${message}`);
    return { output: renderTemplate(parseTemplate(source, { kind: 'text' }), data, { onWrongValue }), warnings };
  };

  test('comparisons of different kinds may count as not equal, with a warning', () => {
    const source = '{{ if eq .X "a" }}a{{ else }}b{{ end }}\n{{ ne .X "a" }}';
    expect(leniently(source, { X: 5 })).toEqual({
      output: 'b\ntrue',
      warnings: [
        '1:7 error calling eq: incompatible types for comparison: float and string',
        '2:4 error calling ne: incompatible types for comparison: float and string',
      ],
    });
    expect(leniently('{{ eq .X 1 "a" }}', { X: 'a' }).output).toBe('true');
  });

  test.each([
    ['{{ lt .X 5 }} {{ ge .X "a" }}', { X: [] }, 'false false', 2],
    ['{{ eq .X .Y }} {{ ne .X .Y }} {{ eq .X .X }}', { X: [1], Y: { a: 1 } }, 'false true false', 3],
    ['{{ len .X }}', { X: 5 }, '0', 1],
    ['{{ len .X }}', {}, '0', 1],
    ['{{ if gt (len .X) 2 }}many{{ end }}', { X: true }, '', 1],
    ['<{{ index .X 0 }}>', { X: [] }, '<>', 1],
    ['<{{ index .X "a" "b" }}>', { X: { a: 5 } }, '<>', 1],
    ['<{{ index .X 0 }}>', {}, '<>', 1],
    ['<{{ slice .X 0 1 }}>', { X: '' }, '<>', 1],
    ['<{{ slice .X 0 1 }}>', { X: 5 }, '<>', 1],
    ['<{{ printf .X 1 }}>', { X: 5 }, '<>', 1],
    ['<{{ printf "%s" .X }}>', { X: 5 }, '<%!s(float64=5)>', 0],
    ['<{{ .X.a.b }}>', { X: 5 }, '<>', 1],
    ['<{{ .X.a }}>', { X: null }, '<>', 1],
    ['<{{ range .X }}a{{ else }}none{{ end }}>', { X: 'text' }, '<none>', 1],
    ['<{{ range $k, $v := .X }}{{ $k }}{{ end }}>', { X: 2.5 }, '<>', 1],
  ] as const)('%s of %j may be %j instead of a fault', (source, data, output, count) => {
    const result = leniently(source, data);
    expect({ output: result.output, count: result.warnings.length }).toEqual({ output, count });
    if (count > 0) expect(() => renderTemplate(parseTemplate(source, { kind: 'text' }), data)).toThrow();
  });

  test('leniently, no values that somebody chooses make a template fail', () => {
    const values = [
      undefined,
      null,
      true,
      0,
      -1,
      1e300,
      '',
      '0',
      'ünï',
      [],
      [null],
      [[1]],
      {},
      { a: null },
      { a: { b: 1 } },
    ];
    const calls = [
      'eq',
      'ne',
      'lt',
      'le',
      'gt',
      'ge',
      'index',
      'slice',
      'printf',
      'print',
      'html',
      'urlquery',
      'and',
      'or',
    ];
    const source = [
      ...calls.flatMap((name) => ['.X .Y', '.X "a"', '.X 1', '"a" .X', '1 .X'].map((of) => `{{ ${name} ${of} }}`)),
      ...[
        'len .X',
        'not .X',
        '.X.a',
        '.X.a.b',
        '(index .X 0).a',
        'slice .X 1 2',
        'printf "%*d" .X .Y',
        'len .X | eq .Y',
      ].map((of) => `{{ ${of} }}`),
      '{{ range .X }}{{ .a }}{{ end }}{{ range $k, $v := .X }}{{ $v.a }}{{ end }}{{ with .X }}{{ .a }}{{ end }}',
    ].join('\n');
    for (const X of values)
      for (const Y of values)
        for (const kind of ['text', 'html'] as const) {
          const template = parseTemplate(source, { kind });
          expect(() => renderTemplate(template, { X, Y }, { onWrongValue: () => {} })).not.toThrow();
        }
  });

  test('the variables of a template are known without data', () => {
    const source = `{{ .Email }}{{ with .Data }}{{ .name }}{{ $.Token }}{{ end }}{{ range .List }}{{ .x }}{{ end }}
      {{ template "t" . }}{{ define "t" }}{{ .SiteURL }}{{ $.Phone }}{{ end }}{{ if and .A (eq (.B) "x") }}{{ end }}
      {{ template "u" .Sub }}{{ define "u" }}{{ .notOurs }}{{ end }}{{ html .Html }}{{ ($).Chain }}`;
    const names = ['A', 'B', 'Chain', 'Data', 'Email', 'Html', 'List', 'Phone', 'SiteURL', 'Sub', 'Token'];
    expect([...templateVariables(parseTemplate(source, { kind: 'html' })).keys()]).toEqual(names);
    expect([...templateVariables(parseTemplate(source, { kind: 'text' })).keys()]).toEqual(names);
  });
});

test('a subject is not escaped, and what is missing prints as nothing', () => {
  expect(text('{{ .X }} & <b> {{ .Y }}{{ .Z }}|{{ html .X }}', { X: "<O'Hara+>", Z: null })).toBe(
    "<O'Hara+> & <b> |&lt;O&#39;Hara+&gt;",
  );
});

test('floats are rounded half to even on their exact value', () => {
  const cases = [
    [2.5, 'f', 0],
    [0.5, 'f', 0],
    [1.5, 'f', 0],
    [1e23, 'f', 0],
    [2.345, 'f', 2],
    [0.000125, 'e', 1],
  ] as const;
  expect(cases.map(([value, verb, precision]) => formatFloat(value, verb, precision))).toEqual([
    '2', '0', '2', '99999999999999991611392', '2.35', '1.3e-04',
  ]); // biome-ignore format: a list
  expect(formatFloat(5e-324, 'e', 20)).toBe('4.94065645841246544177e-324');
});

test('CSS escapes end where the standard says', () => {
  expect(decodeCss('\\41 B\\000041C\\ffffff\\d800 x\\')).toBe('ABAC\u{fffff}f\ufffdx');
  expect(decodeBytes(Uint8Array.of(0xf0, 0x9f, 0x98, 0x80, 0xff, 0xe2, 0x82))).toBe('😀\ufffd\ufffd\ufffd');
});

describe('the type of a script', () => {
  const ofScript = (type: string) =>
    html(`<script type="${type}">{{ .Data }}</script>`, { Data: "a'b" }).includes(`"a'b"`);

  test.each([
    ['text/javascript', true],
    ['\u0085text/javascript\u0085', true],
    [' \u00a0\u3000text/javascript\u2028', true],
    ['text/javascript\u0085; charset=utf-8', true],
    ['\ufefftext/javascript', false],
    ['text/javascript\ufeff', false],
    ['text/javascript \ufeff', false],
    ['appl\u0130cat\u0130on/json', true],
    ['text/java\u017fcript', false],
    ['text/template', false],
  ])('the type of a script is trimmed and folded as Go does: %j', (type, isScript) => {
    expect(ofScript(type)).toBe(isScript);
  });
});
