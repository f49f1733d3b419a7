/** Schemas and types of previews of emails in the management API. */
import { maxPartials, partialName } from '../../config/auth/auth-template-fields.ts';
import { type EmailVariable, emailKindNames, emailKinds } from '../../config/auth/email-kinds.ts';
import type { TemplateData } from '../../email/engine/template.ts';
import { linkPageVariables } from '../../email/link-page/link-page.ts';
import {
  about,
  flag,
  integer,
  listOf,
  named,
  objectOf,
  oneOf,
  optional,
  orNull,
  record,
  type Schema,
  text,
  type ValueOf,
} from '../../shared/schema.ts';

const texts = { subject: text, content: text };
const emailName = oneOf(...emailKindNames);

/** An email and the names of its fields. */
export const describedEmail = named(
  'DescribedEmail',
  objectOf({
    email: emailName,
    title: text,
    sent: about(text, 'When it is sent.'),
    group: oneOf('authentication', 'notification'),
    subjectField: text,
    contentField: text,
    textField: text,
    translationsField: text,
    locales: listOf(about(text, 'Language tag that the email has texts for, a built-in one included.')),
    builtInLocales: listOf(
      about(text, 'Language tag of built-in texts, which apply while the email has no text of its own.'),
    ),
    enabledField: orNull(about(text, 'Null: the email cannot be switched off.')),
    variables: listOf(text as Schema<EmailVariable>),
    defaults: about(objectOf(texts), 'Built-in texts, used for empty fields.'),
    start: about(
      objectOf({ ...texts, text: about(text, 'Empty: made from the body.') }),
      'Texts used if nothing is stored.',
    ),
    sample: about(record<TemplateData>(), 'What a draft is rendered with if it has no data.'),
  }),
);

/** An email and the names of its fields. */
export type DescribedEmail = ValueOf<typeof describedEmail>;

/** A template beside the emails: the layout around them, and the page of their links. */
export const sharedTemplate = named(
  'SharedTemplate',
  objectOf({
    name: oneOf('layout', 'link_page'),
    contentField: text,
    translationsField: orNull(about(text, 'Null: it has no translations.')),
    variables: listOf(text),
    defaults: about(objectOf({ content: text }), 'Built-in text, used for an empty field.'),
    start: about(objectOf({ content: about(text, 'Empty: the built-in one.') }), 'Text used if nothing is stored.'),
    sample: about(record<TemplateData>(), 'What a draft is rendered with if it has no data.'),
  }),
);

/** A template beside the emails. */
export type SharedTemplate = ValueOf<typeof sharedTemplate>;

const variables = [...new Set([...emailKindNames.flatMap((name) => emailKinds[name].variables), ...linkPageVariables])];

/** Whether the value of a variable is an object; the others are texts. */
export const isObjectVariable = (name: string): boolean => name === 'Data' || name === 'Brand';

const draft = {
  locale: orNull(
    about(text, {
      description: 'Language tag: absent texts are those that its readers get. Absent or null: the email itself.',
      pattern: '^([A-Za-z]{2,3}|[A-Za-z]{5,8})([-_][A-Za-z0-9]{1,8})*$',
    }),
  ),
  subject: orNull(about(text, 'Absent or null: the one in force; empty: the built-in one.')),
  content: orNull(about(text, 'Absent or null: the one in force; empty: the built-in one.')),
  text: orNull(about(text, 'Text part. Absent or null: the one in force; empty: made from the body.')),
  layout: orNull(about(text, 'Layout. Absent or null: the one in force; empty: none.')),
  partials: orNull(
    about(record(), {
      description: 'Partials by name. Absent or null: those in force.',
      propertyNames: { pattern: partialName.source },
      additionalProperties: text.json,
      maxProperties: maxPartials,
    }),
  ),
  data: orNull(
    about(record(), {
      description: 'Values of variables of the email. Those that are absent: the sample.',
      properties: Object.fromEntries(variables.map((name) => [name, (isObjectVariable(name) ? record() : text).json])),
      additionalProperties: false,
    }),
  ),
};

const optionalDraft = Object.fromEntries(Object.entries(draft).map(([name, field]) => [name, optional(field)]));

/** A misspelled field would be ignored silently. */
const only = { additionalProperties: false };

/** A draft as sent. Missing texts are the current ones, empty ones the built-in ones; missing data are the sample's. */
export const emailDraft = named(
  'EmailDraft',
  about(
    objectOf({
      email: about(oneOf(...emailKindNames, 'link_page'), '`link_page`: the page of links, a content only.'),
      ...optionalDraft,
    }),
    only,
  ),
);

/** A draft and the recipient of its test email. */
export const emailTrial = about(
  objectOf({
    email: emailName,
    ...optionalDraft,
    to: about(text, { description: 'Address of the recipient.', format: 'email', maxLength: 255 }),
  }),
  only,
);

/** Fields of a draft. */
export const draftFields: readonly string[] = ['email', ...Object.keys(draft)];

const finding = {
  message: text,
  name: orNull(about(text, 'The check; `{{/* check: ignore NAME */}}` switches it off. Null: a fault.')),
  line: orNull(about(integer, 'From 1. Null: it is about the text as a whole.')),
  column: orNull(about(integer, 'From 1, in UTF-16 units.')),
  length: orNull(about(integer, 'UTF-16 units. Null: the word at the place.')),
};

const faultFields = {
  phase: text,
  code: text,
  ...finding,
  piece: orNull(
    about(
      objectOf({ title: about(text, '`the layout` or `the partial "name"`.'), ...finding }),
      'The fault in a layout or partial.',
    ),
  ),
};

const refused = about(flag, 'Recipients cannot continue: `?allow_warnings=false` refuses it.');

const renderedFields = {
  output: orNull(about(text, 'Null: there is a fault.')),
  fault: orNull(objectOf(faultFields)),
  warnings: listOf(about(objectOf({ ...finding, refused }), 'What is valid and probably not meant.')),
};

const renderedText = objectOf(renderedFields);

/** The result of one text. */
export type RenderedText = ValueOf<typeof renderedText>;

/** The result of a draft. */
export const renderedDraft = named(
  'RenderedEmail',
  objectOf({
    subject: renderedText,
    content: renderedText,
    text: orNull(about(text, 'The email as a client without HTML shows it; null: there is a fault.')),
    textPart: orNull(about(objectOf(renderedFields), 'The template of the text part; null: it is made from the body.')),
    builtIn: orNull(
      about(objectOf(texts), 'Built-in texts of the language of the draft; null: the draft has no language.'),
    ),
  }),
);

/** The result of a draft. */
export type RenderedDraft = ValueOf<typeof renderedDraft>;
