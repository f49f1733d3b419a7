/**
 * Codes of authenticator apps (RFC 6238 with SHA-1, six digits, steps of 30 seconds), and the URI that imports a secret
 * into an app. A library would bring its own crypto for a few lines of `node:crypto`.
 */
import { createHmac } from 'node:crypto';
import { sameText } from '../../shared/same-text.ts';
import { type Time, toSeconds } from '../../shared/times.ts';

/** Length of a time step in seconds. */
const stepSeconds = 30;

/** Allowed difference of the app's clock, in steps. */
const tolerance = 1;

const digits = 6;
const base32Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Bytes -> base32 of RFC 4648 without padding. */
export function toBase32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => base32Alphabet[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}

/** The bytes of a base32 text, with or without padding; null for invalid text. */
export function fromBase32(text: string): Uint8Array | null {
  const letters = text.toUpperCase().replace(/(?<!=)=+$/, '');
  if (!/^[A-Z2-7]*$/.test(letters)) return null;
  const bits = Array.from(letters, (letter) => base32Alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}

/** Number of the time step at a time. */
export function totpStep(now: Time): number {
  return Math.floor(toSeconds(now) / stepSeconds);
}

/** The code of a step. @param key The bytes of the secret. */
export function totpCode(key: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', key).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 0x0f;
  const number = digest.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** The step of the code: the current one, the one before or the one after. Null if the code matches none. */
export function findStep(key: Uint8Array, code: string, now: Time): number | null {
  const current = totpStep(now);
  const steps = Array.from({ length: 2 * tolerance + 1 }, (_, index) => current + index - tolerance);
  // Compute all of them, so that timing reveals nothing.
  const matching = steps.filter((step) => sameText(totpCode(key, step), code));
  return matching.at(-1) ?? null;
}

/** The URI in the QR code. @param secret In base32. @param label Issuer and account, which apps show. */
export function totpUri(secret: string, { issuer, account }: Readonly<Record<'issuer' | 'account', string>>): string {
  const name = encode(issuer);
  const parameters = `algorithm=SHA1&digits=${digits}&issuer=${name}&period=${stepSeconds}&secret=${secret}`;
  return `otpauth://totp/${name}:${encode(account)}?${parameters}`;
}

/** Keep colon and at sign readable: they have no meaning in these parts of a URI. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll('%40', '@').replaceAll('%3A', ':');
}

/** A QR code as SVG, without `#`, so that it may stand in a data URL. @param text At most 2000 bytes. */
export async function qrCodeSvg(text: string): Promise<string> {
  const { renderSVG } = await import('uqr');
  // Scanners need a white edge of four modules.
  const svg = renderSVG(text, { ecc: 'M', border: 4, pixelSize: 4 });
  return `<?xml version="1.0"?>${svg.replace(/viewBox="0 0 (\d+) (\d+)"/, 'width="$1" height="$2" $&')}`;
}
