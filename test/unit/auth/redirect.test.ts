/**
 * Where links may lead: the application, loopback neighbours, the allow list, and none of the ways around them.
 */
import { describe, expect, test } from 'vitest';
import { createRedirectRules } from '../../../src/auth/rules/redirect.ts';
import { checkPattern, compileUrlPattern, splitPatterns } from '../../../src/config/url-pattern.ts';

const site = 'https://app.test';

function isAllowed(url: string, list = '', siteUrl = site): boolean {
  return createRedirectRules({ site_url: siteUrl, uri_allow_list: list }).isAllowed(url);
}

describe('the address of the application', () => {
  test.each([
    'https://app.test',
    'https://app.test/',
    'https://app.test/any/path?a=1&b=2#there',
    'HTTPS://APP.TEST/x',
    'https://app.test:443/x',
  ])('%s is allowed without a list', (url) => expect(isAllowed(url)).toBe(true));

  test.each([
    'http://app.test/',
    'https://app.test:8443/',
    'https://app.test.evil.test/',
    'https://evil.test/app.test',
    'https://sub.app.test/',
    'https://app.test@evil.test/',
    'https://user:app.test@evil.test',
    'https://evil.test\\@app.test/',
    'https://app.test\\.evil.test/',
    'https:\\\\evil.test/',
    'https://evil.test%2f@app.test:x/',
    'https://app%2etest.evil.test/',
    'https://app。test/',
    'https:/evil.test',
    'https:evil.test',
    'https:///evil.test',
    '//evil.test',
    '/path',
    'app.test',
    '',
    ' https://app.test',
    'https://app.te\tst/',
    'https://app.test\n.evil.test/',
    'https://exa_mple.test/',
    'https://[::ffff:1.2.3.4]/',
    'javascript:alert(1)',
    'JavaScript://app.test/%0aalert(1)',
    'data:text/html,x',
  ])('%s is not', (url) => expect(isAllowed(url)).toBe(false));

  test('of another port is another address, but not on a loopback name', () => {
    expect(isAllowed('http://localhost:9999/x', '', 'http://localhost:3000')).toBe(true);
    expect(isAllowed('http://shop.localhost:1', '', 'http://shop.localhost:3000')).toBe(true);
    expect(isAllowed('https://localhost/', '', 'http://localhost:3000')).toBe(false);
    expect(isAllowed('http://app.test:1/', '', 'http://app.test:2/')).toBe(false);
  });
});

describe('IP addresses', () => {
  test.each(['http://127.0.0.1:5/', 'http://[::1]:3000/cb'])('%s is loopback and allowed', (url) => {
    expect(isAllowed(url)).toBe(true);
  });

  test.each([
    'http://2130706433/',
    'http://10.0.0.1/',
    'http://0x7f.1/',
    'http://127.1/',
    'http://017700000001/',
    'http://[fe80::1]/',
    'exp://192.168.1.5:8081/--/cb',
  ])('%s is refused although it is listed', (url) => expect(isAllowed(url, '**')).toBe(false));

  test.each([
    'evilapp://127.0.0.1/',
    'evilapp://[::1]/cb',
    'intent://127.0.0.1/#Intent;scheme=evil;end',
    'file://127.0.0.1/share',
    'ftp://127.0.0.1/',
    'ws://127.0.0.1/',
    'blob:http://127.0.0.1/x',
    'view-source://127.0.0.1/',
    'exp://127.0.0.1:8081/--/cb',
  ])('%s is no web server on loopback: allowed only if it is listed', (url) => {
    expect(isAllowed(url)).toBe(false);
    expect(isAllowed(url, 'other://**')).toBe(false);
    expect(isAllowed(url, `${url.slice(0, url.indexOf(':'))}:**`)).toBe(true);
  });
});

describe('dot segments', () => {
  const list = 'https://shared.test/mine/**,https://*.cb.test/*/end,exp://u.expo.dev/mine/**';

  test.each([
    'https://shared.test/mine/../other/index.html',
    'https://shared.test/mine/%2e%2e/other/',
    'https://shared.test/mine/.%2E/other/',
    'https://shared.test/mine/x/../../other/',
    'https://shared.test/mine/..',
    'https://shared.test/mine/x/..%2f..%2fother/',
    'https://shared.test/mine/..%5Cother/',
    'https://shared.test/mine/%2F../x',
    'https://a.cb.test/x/../end',
    'exp://u.expo.dev/mine/../other',
  ])('%s leaves the path of its pattern', (url) => expect(isAllowed(url, list)).toBe(false));

  test.each([
    'https://shared.test/mine/x/../y/./z',
    'https://shared.test/other/../mine/x',
    'https://shared.test/mine/..hidden/...',
    'https://shared.test/mine/x?next=/../%2F..%2Fother',
    'https://a.cb.test/y/../x/end',
    'exp://u.expo.dev/mine/--/../cb',
  ])('%s does not', (url) => expect(isAllowed(url, list)).toBe(true));

  test('an address of the application is free in its path', () => {
    expect(isAllowed('https://app.test/a/../b/..%2fc')).toBe(true);
  });
});

describe('the allow list', () => {
  test.each([
    ['http://localhost:8000/*', 'http://localhost:8000/x', true],
    ['http://localhost:8000/*', 'http://localhost:8000/x?p=1', true],
    ['http://localhost:8000/*', 'http://localhost:8000', false],
    ['http://localhost:8000/*', 'http://localhost:8000/x/y', false],
    ['https://*.acme.dev/**', 'https://a.acme.dev/x/y?z=1', true],
    ['https://*.acme.dev/**', 'https://a.b.acme.dev/', false],
    ['http://*.*.dev:3000', 'http://a.b.dev:3000', true],
    ['com.acme.app://**', 'com.acme.app://login/cb', true],
    ['myapp://**', 'myapp://', true],
    ['https://cb.test/cb', 'https://cb.test/cb?x=1', false],
    ['https://cb.test/cb**', 'https://cb.test/cb?x=1', true],
    ['https://*.app.test/*', 'https://a.app.test/x?y=z', true],
    ['https://*.app.test/*', 'https://a.app.test/x?y=a.b', false],
    ['https://*.app.test/*', 'https://a.app.test/x/y', false],
    ['https://{a,b}.cb.test/', 'https://b.cb.test/', true],
    ['https://{a,b}.cb.test/', 'https://c.cb.test/', false],
    ['https://[a-c]?.cb.test/', 'https://bx.cb.test/', true],
    ['https://[!a-c].cb.test/', 'https://b.cb.test/', false],
    ['https://cb.test/x\\?a=1', 'https://cb.test/x?a=1', true],
    ['https://cb.test/x?a=1', 'https://cb.test/x?a=1', true],
    ['https://cb.test/page', 'https://cb.test/page#part', true],
    ['javascript:**', 'javascript:alert(1)', false],
    ['**', 'data:text/html,x', false],
    [' https://one.test/ , https://two.test/ ', 'https://two.test/', true],
  ])('%s and %s: %s', (list, url, expected) => expect(isAllowed(url, list)).toBe(expected));

  test.each([
    ['https://pre-*.host.test/**', 'https://pre-x@evil.host.test/', false],
    ['https://pre-*.host.test', 'https://pre-x:y@evil.host.test', false],
    ['http://localhost:*/**', 'http://localhost:1@evil/', false],
    ['https://*.*.cb.test/**', 'https://evil.test?.cb.test/x', false],
    ['http://*.*.cb.test:3000', 'http://evil.test?x.cb.test:3000', false],
    ['https://[a-z]*.??st*.cb.test/', 'https://evil.test?.cb.test/', false],
    ['https://*.cb.test/**', 'https://a.cb.test?x=1', true],
    ['https://*.cb.test**', 'https://a.cb.test?x=1', true],
    ['https://cb.test*', 'https://cb.test?x=1', true],
    ['https://cb.test?x=1', 'https://cb.test?x=1', true],
    ['https://me:secret@cb.test/**', 'https://me:secret@cb.test/x', true],
    ['https://*.cb.test/**', 'https://a.cb.test/@me?b=c@d', true],
    ['https://**--cb.host.test/**', 'https://evil.test/--cb.host.test/', false],
    ['https://**.cb.test', 'https://evil.test/.cb.test', false],
    ['https://**.{cb,cd}.test:*/x', 'https://evil.test/.cb.test:1/x', false],
    ['**.cb.test/**', 'https://evil.test/.cb.test/', false],
    ['https://e[!a]**.cb.test/', 'https://evil.test/.cb.test/', false],
    ['https://**--cb.host.test/**', 'https://a.b--cb.host.test/x', true],
    ['https://**.cb.test', 'https://a.b.cb.test', true],
    ['http{s,}://**.cb.test/x', 'https://a.cb.test/x', true],
    ['https://{a,b}**{.cb.test/x,.cb.test/y}', 'https://a.cb.test/y', true],
    ['https://**/cb', 'https://any.test/x/cb', true],
    ['https://**', 'https://any.test/x', true],
  ])('%s and %s: a wild card says nothing of other hosts: %s', (list, url, expected) => {
    expect(isAllowed(url, list)).toBe(expected);
  });

  test('the allow list is split at commas outside braces', () => {
    expect(splitPatterns('https://{a,b}.test, x\\,y ,,')).toEqual(['https://{a,b}.test', 'x\\,y']);
  });

  test.each(['https://[a.test', 'https://{a,b.test', 'x\\', 'x[]', 'x[b-a]'])(
    'the allow list says that %s is malformed',
    (pattern) => {
      expect(checkPattern(`https://fine.test/, ${pattern}`)).toContain('pattern "');
      expect(isAllowed('https://a.test', pattern)).toBe(false);
    },
  );

  test('the allow list answers at once, whatever pattern and address are like', () => {
    const pattern = compileUrlPattern(`${'**a'.repeat(60)}b`);
    expect(pattern.matches('a'.repeat(16_000))).toBe(false);
    expect(pattern.matches('a'.repeat(1_000_000))).toBe(false);
  });
});

describe('the candidates of a request', () => {
  const rules = createRedirectRules({ site_url: site, uri_allow_list: 'https://other.test/**' });
  const good = 'https://other.test/good';
  const bad = 'https://evil.test/';

  test.each([
    [{}, site],
    [{ referer: good }, good],
    [{ query: good, referer: `${good}/page` }, good],
    [{ query: bad, referer: good }, good],
    [{ query: bad, referer: bad }, site],
    [{ header: bad, query: good }, site],
    [{ header: bad, query: good, referer: `${good}/page` }, `${good}/page`],
    [{ header: '', query: good }, good],
    [{ query: `${good}?a=1#keep` }, `${good}?a=1#keep`],
  ])('%j lead to %s', (candidates, expected) => expect(rules.resolve(candidates)).toBe(expected));
});
