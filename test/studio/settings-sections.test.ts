import { expect, test } from 'vitest';
import { configFields } from '../../src/management/config-fields.ts';
import { groupAddress } from '../../src/studio/app/pages/settings/place-of.ts';
import { settingsSections } from '../../src/studio/app/pages/settings/sections.ts';

test('each field of the auth configuration is once on the page Settings, or a text of the page Emails', () => {
  const shown = settingsSections.flatMap(({ groups }) =>
    groups.flatMap(({ fields }) => fields.map(({ name }) => name)),
  );
  const ofEmails = /^mailer_(subjects_|templates_(?!lenient)|layout_content$|partials$)/;
  const texts = [...configFields.keys()].filter((name) => ofEmails.test(name));
  expect([...shown, ...texts].sort()).toEqual([...configFields.keys()].sort());
});

test('the page Settings tells fields without effect apart from all others', () => {
  for (const { groups } of settingsSections) {
    for (const { title, fields } of groups) {
      const inert = fields.filter(({ name }) => configFields.get(name)?.inert);
      expect(inert.length).toBe(title === 'Without effect here' ? fields.length : 0);
    }
  }
});

test('no two groups of the page Settings have the same address', () => {
  const all = settingsSections.flatMap(({ path, groups }) => groups.map(({ title }) => groupAddress(path, title)));
  expect(new Set(all).size).toBe(all.length);
});
