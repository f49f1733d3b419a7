/**
 * Passwords: hashed off the main thread, checked by every kind of hash that a database may hold, held to the policy.
 */
import { describe, expect, test } from 'vitest';
import { checkHash, isOutdated, UnreadableHashError } from '../../../src/auth/secrets/password-hash.ts';
import { assertStrong, findWeakness, splitCharacterSets } from '../../../src/auth/secrets/password-policy.ts';
import { createPasswordHasher } from '../../../src/auth/secrets/passwords.ts';

const hasher = createPasswordHasher();
const notPwned = async () => false;
const policy = { password_min_length: 6, password_required_characters: '', password_hibp_enabled: false };

test('a password is recognised by its hash, another one is not', async () => {
  const hash = await hasher.hash('correct horse');
  expect(hash).toMatch(/^\$2b\$10\$/);
  expect([await hasher.verify('correct horse', hash), await hasher.verify('Correct horse', hash)]).toEqual([
    true,
    false,
  ]);
});

test('without a hash no password is right, and a hash is computed to say so', async () => {
  // 2^11 rounds take some 120 ms of a processor, whatever else it has to do; to look at nothing takes none.
  const costly = createPasswordHasher(1, 11);
  const start = process.cpuUsage();
  expect(await costly.verify('wrong', null)).toBe(false);
  expect(process.cpuUsage(start).user).toBeGreaterThan(20_000);
});

test('no more are computed at once than asked for, and all are computed', async () => {
  const one = createPasswordHasher(1, 4);
  const hashes = await Promise.all(['a', 'b', 'c'].map((password) => one.hash(password)));
  expect(new Set(hashes).size).toBe(3);
});

test('a password that bcrypt would cut keeps the hash it was imported with', async () => {
  const hash = '$pbkdf2-sha1$i=4096$c2FsdA$SwB5AbdlSJq+rUnZJvch0GWkKcE';
  expect(await hasher.renew('a'.repeat(73), hash)).toBeNull();
});

test('whose time is over before their turn comes are not waited for', async () => {
  const one = createPasswordHasher(1, 8);
  const hash = await one.hash('a');
  const soon = performance.now() + 1;
  const first = one.hash('b');
  const late = Promise.allSettled([one.hash('c', soon), one.verify('a', hash, soon)]);
  const inTime = one.verify('a', hash, soon + 60_000);
  await expect(first).resolves.toMatch(/^\$2b/);
  const refused = { status: 'rejected', reason: { code: 'request_timeout' } };
  expect(await late).toMatchObject([refused, refused]);
  expect(await inTime).toBe(true);
});

test('the main thread stays free while passwords are hashed', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await Promise.all(Array.from({ length: 2 }, () => hasher.hash('x')));
  clearInterval(timer);
  // None where it waits for them; how many there are is the machine's business.
  expect(turns).toBeGreaterThan(1);
});

describe('a hash of Supabase Auth', () => {
  test.each([
    ['bcrypt 2a', '$2a$04$N9qo8uLOickgx2ZMRZoMye.IjZ4wVnZZnmIcSYXDUzXn/7GgIhbK2', null],
    ['bcrypt of a day', '$2a$31$N9qo8uLOickgx2ZMRZoMye.IjZ4wVnZZnmIcSYXDUzXn/7GgIhbK2', 'out of range'],
    ['bcrypt cut short', '$2a$04$N9qo8uLOickgx2ZMRZoMye', 'malformed'],
    ['of an unknown kind', 'md5:5f4dcc3b5aa765d61d8327deb882cf99', 'unknown kind'],
    ['encrypted', '{"key_id":"x","alg":"aes-gcm-hkdf","data":"","nonce":""}', 'encrypted'],
    ['Argon2 with hostile parameters', '$argon2id$v=19$m=99999999,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2g', 'out of range'],
    ['Argon2 of 4 GB', `$argon2id$v=19$m=4194304,t=1,p=1$c29tZXNhbHQ$${'a'.repeat(43)}`, 'out of range'],
    ['Argon2 of many passes', `$argon2id$v=19$m=65536,t=17,p=1$c29tZXNhbHQ$${'a'.repeat(43)}`, 'out of range'],
    ['Argon2 of a byte', '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$Zg', 'malformed'],
    ['Argon2 cut short', '$argon2id$v=19$m=16', 'malformed'],
    ['Firebase of many lanes', `$fbscrypt$v=1,n=14,r=8,p=99,sk=${'A'.repeat(44)}$c2FsdA==$${'A'.repeat(44)}`, 'range'],
    ['PBKDF2 with hostile parameters', `$pbkdf2-sha256$i=99999999$c2FsdA$${'A'.repeat(43)}`, 'out of range'],
    ['PBKDF2 of another length', `$pbkdf2-sha256$i=1000,l=64$c2FsdA$${'A'.repeat(43)}`, 'malformed'],
    ['longer than the column', `$2a$04$${'a'.repeat(300)}`, '255 characters'],
    ['Firebase with hostile parameters', '$fbscrypt$v=1,n=40,r=999,p=1$c2FsdA==$aGFzaA==', 'out of range'],
    [
      'Firebase without a key and a hash, which every password fits',
      '$fbscrypt$v=1,n=14,r=8,p=1$c2FsdA==$====',
      'malformed',
    ],
    [
      'Firebase of one byte, which every 256th password fits',
      '$fbscrypt$v=1,n=14,r=8,p=1,sk=AA==$c2FsdA==$AA==',
      'malformed',
    ],
  ])('%s is checked or named as unreadable', async (_, hash, problem) => {
    if (problem === null) expect(await checkHash('wrong', hash)).toBe(false);
    else await expect(checkHash('x', hash)).rejects.toThrow(UnreadableHashError);
    if (problem !== null) await expect(checkHash('x', hash)).rejects.toThrow(problem);
  });

  test('by Argon2 is verified', async () => {
    // argon2 somesalt -id -t 2 -m 16 -p 1, of the reference implementation.
    const hash = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
    expect([await checkHash('password', hash), await checkHash('Password', hash)]).toEqual([true, false]);
    const older = '$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA';
    expect(await checkHash('password', older)).toBe(true);
  });

  test('by PBKDF2 is verified', async () => {
    // Of RFC 7914, section 11, and of RFC 6070.
    const hash =
      '$pbkdf2-sha256$i=80000,l=64$TmFDbA==$TdzY9guYviGDDO5e8icB+WQaRBjQTAQUrv8Ih2s0q1ah1CWhIlgzVJrbhBtRybMXaicr3ruh0HhHj2Kzl/M8jQ';
    expect([await checkHash('Password', hash), await checkHash('password', hash)]).toEqual([true, false]);
    const older = '$pbkdf2-sha1$i=4096$c2FsdA$SwB5AbdlSJq+rUnZJvch0GWkKcE';
    expect([isOutdated(older), (await hasher.renew('password', older))?.slice(0, 7)]).toEqual([true, '$2b$10$']);
  });

  test('by Firebase is verified', async () => {
    // The example of the published scrypt utility of Firebase.
    const hash = [
      '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
      '42xEC+ixf3L2lw==',
      'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
    ].join('$');
    expect([await checkHash('user1password', hash), await checkHash('user2password', hash)]).toEqual([true, false]);
  });

  test('a hash of Supabase Auth is made anew where it is not what we make', () => {
    expect(isOutdated('$2b$10$j8Tgma25oWeaOQoOgf5I8OT/IoEPAyOSo9Oo9JZr/kzjBut.W0HTG')).toBe(false);
    expect(isOutdated('$2b$04$j8Tgma25oWeaOQoOgf5I8OT/IoEPAyOSo9Oo9JZr/kzjBut.W0HTG')).toBe(true);
    expect(isOutdated('$argon2id$v=19$')).toBe(true);
    expect(isOutdated('$2b$xx')).toBe(true);
  });
});

describe('the policy', () => {
  test('the policy counts bytes, and refuses more than bcrypt looks at', async () => {
    await expect(assertStrong('a'.repeat(73), policy, notPwned)).rejects.toMatchObject({
      code: 'validation_failed',
      status: 400,
      message: 'Password cannot be longer than 72 characters',
    });
    await expect(assertStrong('é'.repeat(40), policy, notPwned)).rejects.toMatchObject({ code: 'validation_failed' });
    await expect(hasher.hash('a'.repeat(73))).rejects.toMatchObject({ code: 'validation_failed' });
    await assertStrong('ééé', policy, notPwned);
  });

  test('the policy names the reason, and all of them where there are several', async () => {
    const strict = { ...policy, password_required_characters: 'abc:0123' };
    await expect(assertStrong('xxxxx', strict, notPwned)).rejects.toMatchObject({
      code: 'weak_password',
      status: 422,
      weakPassword: ['length', 'characters'],
      message:
        'Password should be at least 6 characters. Password should contain at least one character of each: abc, 0123.',
    });
    expect(await findWeakness('abc123', strict, notPwned)).toBeNull();
  });

  test('asks the list of leaked passwords only where it is switched on', async () => {
    const on = { ...policy, password_hibp_enabled: true };
    expect((await findWeakness('password', on, async () => true))?.reasons).toEqual(['pwned']);
    expect(await findWeakness('password', policy, async () => true)).toBeNull();
  });

  test('the policy reads sets of characters, a colon behind a backslash as one of them', () => {
    expect(splitCharacterSets('abc:0-9\\:x:')).toEqual(['abc', '0-9:x']);
    expect(splitCharacterSets('')).toEqual([]);
  });
});
