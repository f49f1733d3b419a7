/**
 * What a program that embeds the gateway imports from `pgreflect`: start one, and the types of what goes in and out.
 */
export { type Config, defaultConfig, type Limits, type LogLevel } from './config/config.ts';
export type { JsonWebKeyMember } from './config/json-web-keys.ts';
export { type Gateway, type GatewayExtras, startGateway } from './gateway.ts';
export { type Code, errorCodes } from './shared/errors.ts';
export type { Observation, Observe, ObservedStages, RequestObservation } from './shared/observation.ts';
export { obeySignals } from './signals.ts';
