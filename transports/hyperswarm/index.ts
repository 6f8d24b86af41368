/** Frames over Hyperswarm, for `orrery/hyperswarm`. */
export type { CarriedConnection } from '../carried-connection.ts';
export type { HyperswarmOptions } from './hyperswarm-options.ts';
export { hyperSwarm, type HyperswarmTransport } from './hyperswarm-transport.ts';
