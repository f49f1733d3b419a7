/**
 * Schemas and types of previews of emails in the management API.
 */
import { maxPartials, partialName } from '../../config/auth/auth-template-fields.ts';
import { type EmailVariable, emailKindNames, emailKinds } from '../../config/auth/email-kinds.ts';
import type { TemplateData } from '../../email/engine/template.ts';
import { linkPageVariables } from '../../email/link-page/link-page.ts';
import {
  flag,
  integer,
  type JsonSchema,
  listOf,
  objectOf,
  oneOf,
  orNull,
  record,
  type SchemaOf,
  text,
  type ValueOf,
} from '../../shared/json-schema.ts';

const texts = { subject: text(), content: text() };
const emailName = oneOf(...emailKindNames);

/** An email and the names of its fields. */
export const describedEmail = objectOf({
  email: emailName,
  title: text(),
  sent: text('When it is sent.'),
  group: oneOf('authentication', 'notification'),
  subjectField: text(),
  contentField: text(),
  textField: text(),
  translationsField: text(),
  locales: listOf(text('Language tag that the email has texts for, a built-in one included.')),
  builtInLocales: listOf(text('Language tag of built-in texts, which apply while the email has no text of its own.')),
  enabledField: orNull(text('Null: the email cannot be switched off.')),
  variables: listOf(text() as SchemaOf<EmailVariable>),
  defaults: objectOf(texts, 'Built-in texts, used for empty fields.'),
  start: objectOf({ ...texts, text: text('Empty: made from the body.') }, 'Texts used if nothing is stored.'),
  sample: record<TemplateData>('What a draft is rendered with if it has no data.'),
});

/** An email and the names of its fields. */
export type DescribedEmail = ValueOf<typeof describedEmail>;

/** A template beside the emails: the layout around them, and the page of their links. */
export const sharedTemplate = objectOf({
  name: oneOf('layout', 'link_page'),
  contentField: text(),
  translationsField: orNull(text('Null: it has no translations.')),
  variables: listOf(text()),
  defaults: objectOf({ content: text() }, 'Built-in text, used for an empty field.'),
  start: objectOf({ content: text('Empty: the built-in one.') }, 'Text used if nothing is stored.'),
  sample: record<TemplateData>('What a draft is rendered with if it has no data.'),
});

/** A template beside the emails. */
export type SharedTemplate = ValueOf<typeof sharedTemplate>;

const variables = [...new Set([...emailKindNames.flatMap((name) => emailKinds[name].variables), ...linkPageVariables])];

/** Whether the value of a variable is an object; the others are texts. */
export const isObjectVariable = (name: string): boolean => name === 'Data' || name === 'Brand';

const draft = {
  email: emailName,
  locale: orNull({
    ...text('Language tag: absent texts are those that its readers get. Absent or null: the email itself.'),
    pattern: '^([A-Za-z]{2,3}|[A-Za-z]{5,8})([-_][A-Za-z0-9]{1,8})*$',
  }),
  subject: orNull(text('Absent or null: the one in force; empty: the built-in one.')),
  content: orNull(text('Absent or null: the one in force; empty: the built-in one.')),
  text: orNull(text('Text part. Absent or null: the one in force; empty: made from the body.')),
  layout: orNull(text('Layout. Absent or null: the one in force; empty: none.')),
  partials: orNull({
    ...record('Partials by name. Absent or null: those in force.'),
    propertyNames: { pattern: partialName.source },
    additionalProperties: text(),
    maxProperties: maxPartials,
  }),
  data: orNull({
    ...record('Values of variables of the email. Those that are absent: the sample.'),
    properties: Object.fromEntries(variables.map((name) => [name, isObjectVariable(name) ? record() : text()])),
    additionalProperties: false,
  }),
};

/** A draft as sent. Missing texts are the current ones, empty ones the built-in ones; missing data are the sample's. */
export const emailDraft = draftSchema(
  {
    ...draft,
    email: { ...oneOf(...emailKindNames, 'link_page'), description: '`link_page`: the page of links, a content only.' },
  },
  ['email'],
);

/** A draft and the recipient of its test email. */
export const emailTrial = draftSchema(
  { ...draft, to: { ...text('Address of the recipient.'), format: 'email', maxLength: 255 } },
  ['email', 'to'],
);

/** Members of a draft or its test email; a misspelled member would be ignored silently. */
export type DraftSchema = JsonSchema & { readonly properties: JsonSchema };

function draftSchema(properties: JsonSchema, required: readonly string[]): DraftSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

const finding = {
  message: text(),
  name: orNull(text('The check; `{{/* check: ignore NAME */}}` switches it off. Null: a fault.')),
  line: orNull({ ...integer, description: 'From 1. Null: it is about the text as a whole.' } as SchemaOf<number>),
  column: orNull({ ...integer, description: 'From 1, in UTF-16 units.' } as SchemaOf<number>),
  length: orNull({ ...integer, description: 'UTF-16 units. Null: the word at the place.' } as SchemaOf<number>),
};

const faultFields = {
  ...{ phase: text(), code: text(), ...finding },
  piece: orNull(
    objectOf({ title: text('`the layout` or `the partial "name"`.'), ...finding }, 'The fault in a layout or partial.'),
  ),
};

const refused = {
  ...flag,
  description: 'Recipients cannot continue: `?allow_warnings=false` refuses it.',
} as SchemaOf<boolean>;

const renderedFields = {
  output: orNull(text('Null: there is a fault.')),
  fault: orNull(objectOf(faultFields)),
  warnings: listOf(objectOf({ ...finding, refused }, 'What is valid and probably not meant.')),
};

const renderedText = objectOf(renderedFields);

/** The result of one text. */
export type RenderedText = ValueOf<typeof renderedText>;

/** The result of a draft. */
export const renderedDraft = objectOf({
  ...{ subject: renderedText, content: renderedText },
  text: orNull(text('The email as a client without HTML shows it; null: there is a fault.')),
  textPart: orNull(objectOf(renderedFields, 'The template of the text part; null: it is made from the body.')),
  builtIn: orNull(objectOf(texts, 'Built-in texts of the language of the draft; null: the draft has no language.')),
});

/** The result of a draft. */
export type RenderedDraft = ValueOf<typeof renderedDraft>;
