/**
 * Validates a document against a role's schema, before any SQL.
 *
 * The rules of the GraphQL specification, without those that documents of existing clients break harmlessly.
 * Introspection fields are always valid here: if introspection is off, answering them fails.
 */
import {
  type ASTNode,
  type ASTVisitor,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getNullableType,
  isScalarType,
  KnownOperationTypesRule,
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  OperationTypeNode,
  OverlappingFieldsCanBeMergedRule,
  specifiedRules,
  TypeInfo,
  type ValidationContext,
  type ValidationRule,
  VariablesInAllowedPositionRule,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { LazySchema } from './lazy-schema.ts';

/** pg_graphql's message: clients show it to users. Without the extension `live`. */
const subscriptionMessage = 'Subscriptions are not supported';

/**
 * All mistakes in the document, empty if it may be planned. At most about a hundred are reported.
 *
 * @param options.strictVariablePositions A variable's type must fit its position; otherwise values are checked at run
 *   time.
 * @param options.suggestions The first messages may suggest names. Off if the schema must not be discoverable.
 */
export function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  options: { readonly strictVariablePositions: boolean; readonly suggestions: boolean },
): readonly GraphQLError[] {
  const rules = options.strictVariablePositions ? strictRules : compatibleRules;
  if (!options.suggestions) return validate(schema, document, rules, { hideSuggestions: true });
  return validate(schema, document, suggestingFirst(rules, schema));
}

/** How many mistakes of a document have suggestions. Clients repair the first ones first. */
const maxSuggestions = 3;
/** After so many comparisons of names no further mistake has suggestions: each compares a name with all others of the schema. */
const maxComparisons = 4000;
/** With more types there are no suggestions: making all names takes longer than other requests may wait. */
const maxNames = 50_000;

const namesOf = (schema: GraphQLSchema): number =>
  schema instanceof LazySchema ? schema.types.size : Object.keys(schema.getTypeMap()).length;

/** Whether names of the schema are suggested at all. */
export const suggestsNames = (schema: GraphQLSchema): boolean => namesOf(schema) <= maxNames;

/** The rules, of which only the first mistakes have suggestions. */
function suggestingFirst(rules: readonly ValidationRule[], schema: GraphQLSchema): readonly ValidationRule[] {
  let mistakes = 0;
  const names = namesOf(schema);
  const isHidden = () =>
    mistakes >= maxSuggestions || names > maxNames || (mistakes > 0 && mistakes * names > maxComparisons);
  return rules.map((rule) => (context) => {
    const reportError = (error: GraphQLError) => {
      mistakes += 1;
      context.reportError(error);
    };
    return rule(Object.create(context, { hideSuggestions: { get: isHidden }, reportError: { value: reportError } }));
  });
}

function supportedOperationTypesRule(context: ValidationContext): ASTVisitor {
  const schema = context.getSchema();
  return {
    OperationDefinition(node) {
      if (schema.getRootType(node.operation)) return;
      const isSubscription = node.operation === OperationTypeNode.SUBSCRIPTION;
      const message = `The ${node.operation} operation is not supported by the schema.`;
      context.reportError(new GraphQLError(isSubscription ? subscriptionMessage : message, { nodes: node }));
    },
  };
}

/**
 * Allows one response key for values of different types, in fragments on different types under `node`.
 *
 * graphql-js reports that as "conflicting types", and nothing else: on one type, a field name has one type. Only a
 * complete message that lists just such conflicts is dropped; a shortened one may hide another reason.
 */
function overlappingFieldsRule(context: ValidationContext): ASTVisitor {
  const reportError = (error: GraphQLError) => {
    if (!conflictingTypesOnly.test(error.message)) context.reportError(error);
  };
  return OverlappingFieldsCanBeMergedRule(Object.create(context, { reportError: { value: reportError } }));
}

/**
 * Allows a variable `JSON` wherever a type of that name stands: JSON travels in two ways, and each place coerces it. Allows any
 * in a list that is JSON, as in an object: graphql-js compares the items of a list with the type of the whole.
 */
function allowedPositionsRule(context: ValidationContext): ASTVisitor {
  let inLists: ReadonlySet<ASTNode> | null = null;
  const reportError = (error: GraphQLError) => {
    const [, given, expected] = positionTypes.exec(error.message) ?? [];
    if (given !== undefined && (given === expected || given === `${expected}!`)) return;
    inLists ??= expected === 'JSON' ? variablesInLists(context) : null;
    if (error.nodes?.some((node) => inLists?.has(node)) !== true) context.reportError(error);
  };
  return VariablesInAllowedPositionRule(Object.create(context, { reportError: { value: reportError } }));
}

/** The variables in lists of JSON literals. */
function variablesInLists(context: ValidationContext): ReadonlySet<ASTNode> {
  const types = new TypeInfo(context.getSchema());
  const found = new Set<ASTNode>();
  const visitor: ASTVisitor = {
    ListValue({ values }) {
      const type = types.getParentInputType();
      if (type && isScalarType(getNullableType(type))) for (const value of values) found.add(value);
    },
  };
  visit(context.getDocument(), visitWithTypeInfo(types, visitor));
  return found;
}

const positionTypes = /^Variable "\$\w+" of type "([\w![\]]+)" used in position expecting type "([\w![\]]+)"\.$/;

const conflictingTypesOnly = new RegExp(
  '^Fields "\\w+" conflict because ' +
    '(?:(?:subfields "\\w+" conflict because )*they return conflicting types "[\\w![\\]]+" and "[\\w![\\]]+"' +
    '(?: and (?=subfields)|(?=\\. Use)))+\\. Use different aliases on the fields to fetch both if this was intentional\\.$',
);

/** Rules of the specification that are left out (null) or replaced. */
const changes = new Map<ValidationRule, ValidationRule | null>([
  [KnownOperationTypesRule, supportedOperationTypesRule],
  [OverlappingFieldsCanBeMergedRule, overlappingFieldsRule],
  [VariablesInAllowedPositionRule, allowedPositionsRule],
  [NoUnusedFragmentsRule, null],
  [NoUnusedVariablesRule, null],
]);
const strictRules = specifiedRules.flatMap((rule) => {
  const change = changes.get(rule);
  return change === null ? [] : [change ?? rule];
});
const compatibleRules = strictRules.filter((rule) => rule !== allowedPositionsRule);
