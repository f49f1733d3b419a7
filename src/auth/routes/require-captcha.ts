/** Requires a captcha where the configuration asks for one. Admins pass without, as with Supabase Auth. */
import { isObject } from '../../shared/json.ts';
import { about, orNull, text } from '../../shared/schema.ts';
import { AuthError } from '../model/auth-error.ts';
import { badJson, bodySchema, readFields } from '../steps/request-body.ts';
import type { AuthRequest } from './auth-request.ts';

const security = bodySchema({ captcha_token: text });

/** Where a body carries the token, for the description of the routes. */
export const captchaField = about(orNull(security), 'Needed if `security_captcha_enabled`.');

/** @throws AuthError `captcha_failed`, `bad_json`, `unexpected_failure` if the captcha service cannot be asked. */
export async function requireCaptcha(request: AuthRequest): Promise<void> {
  const { config, services, client } = request.context;
  if (!config.security_captcha_enabled || (await isAdmin(request))) return;
  await services.checkCaptcha(config, { token: tokenOf(request.body()), ip: client.ip });
}

async function isAdmin(request: AuthRequest): Promise<boolean> {
  try {
    await request.asAdmin();
    return true;
  } catch (error) {
    if (error instanceof AuthError) return false;
    throw error;
  }
}

function tokenOf(body: unknown): string | null {
  if (!isObject(body)) throw badJson('the body is not an object');
  const given = body.gotrue_meta_security ?? {};
  if (!isObject(given)) throw badJson('field "gotrue_meta_security" is not an object');
  return readFields(given, security).captcha_token;
}
