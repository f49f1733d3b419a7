/** What providers of text messages need, and how the file of the Supabase CLI names them. */
import { expect, test } from 'vitest';
import { checkAuthConfig, layerAuthConfig } from '../../../src/config/auth/auth-config.ts';
import { loadAuthConfig } from '../../../src/config/auth/load-auth-config.ts';

function load(sms: object) {
  const places = { fileName: 'pgreflect.toml', isNamed: true, fileDirectory: '/', workingDirectory: '/' };
  return loadAuthConfig({ flags: new Map(), environment: {}, file: { auth: { sms } }, ...places });
}

test('the table of a provider in the file of the Supabase CLI switches it on', () => {
  const twilio = { enabled: true, account_sid: 'AC1', message_service_sid: 'MG1', auth_token: 'hush' };
  const { config, problems, warnings } = load({ enable_signup: true, twilio, vonage: { enabled: false } });
  expect([problems, warnings]).toEqual([[], []]);
  expect(config).toMatchObject({
    sms_provider: 'twilio',
    sms_twilio_account_sid: 'AC1',
    sms_twilio_message_service_sid: 'MG1',
    sms_twilio_auth_token: 'hush',
  });
});

test('two providers, or a switch that is none, are problems', () => {
  expect(load({ twilio: { enabled: true }, vonage: { enabled: true } }).problems).toMatchObject([
    { problem: 'pgreflect.toml: auth.sms.vonage.enabled says the same as auth.sms.twilio.enabled.' },
  ]);
  expect(load({ twilio: { enabled: 'yes' } }).problems).toMatchObject([
    { problem: 'pgreflect.toml: auth.sms.twilio.enabled must be true or false.' },
  ]);
});

test('where users sign in by phone the provider has to be complete, unless a hook sends', () => {
  const phones = layerAuthConfig({ external_phone_enabled: true, sms_provider: 'vonage', sms_vonage_from: 'Shop' });
  expect(checkAuthConfig(phones)).toEqual(['sms_provider vonage needs sms_vonage_api_key, sms_vonage_api_secret']);
  expect(checkAuthConfig({ ...phones, external_phone_enabled: false })).toEqual([]);
  const hook = { hook_send_sms_enabled: true, hook_send_sms_uri: 'pg-functions://postgres/public/send_sms' };
  expect(checkAuthConfig({ ...phones, ...hook })).toEqual([]);
  expect(checkAuthConfig({ ...phones, sms_provider: 'capture' })).toEqual([]);
  expect(checkAuthConfig({ ...phones, sms_provider: null })).toEqual([]);
});

test('the address of a provider of your own is https, or on this machine', () => {
  const { problems } = load({ webhook: { url: 'http://texts.example/' } });
  expect(problems).toMatchObject([
    { problem: expect.stringMatching(/^pgreflect.toml: auth.sms.webhook.url must be an https address/) },
  ]);
});
