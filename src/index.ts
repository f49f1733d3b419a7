/**
 * The exports of `pgreflect` for programs that embed the gateway: start one, and the types of input and output.
 */
export { type Config, defaultConfig, type Limits, type LogLevel } from './config/config.ts';
export type { JsonWebKeyMember } from './config/json-web-keys.ts';
export { type Gateway, type GatewayExtras, startGateway } from './gateway.ts';
export { type Code, errorCodes } from './shared/errors.ts';
export type { Observation, Observe, ObservedStages, RequestObservation } from './shared/observation.ts';
export { obeySignals } from './signals.ts';
