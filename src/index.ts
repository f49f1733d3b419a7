/** The exports of `pgreflect`, for programs that embed the gateway (docs/embedding.md). */
export { ConfigError, type Problem } from './config/config-error.ts';
export type { EmbeddedCaller, EmbeddedOperation } from './embed/embedded-operations.ts';
export type { RequestFacts } from './embed/fetch-graphql.ts';
export { createGateway, type EmbeddedGateway } from './embed/gateway.ts';
export type { EmbedExtras } from './embed/graphql.ts';
export type { GatewayOptions, OptionInput } from './embed/read-options.ts';
export { DatabaseError } from './postgres/database-error.ts';
export { type Code, errorCodes, type PublicError } from './shared/errors.ts';
export type { Observation, Observe, ObservedStages, RequestObservation } from './shared/observation.ts';
