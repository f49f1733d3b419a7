/** Makes PostgreSQL's stored form of a password (RFC 5803), so that no statement contains the password. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** `SCRAM-SHA-256$4096:<salt>$<stored key>:<server key>`; accepted as a password by PostgreSQL 10 and later. */
export function makeScramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  const iterations = 4096;
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const storedKey = createHash('sha256').update(clientKey).digest('base64');
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
