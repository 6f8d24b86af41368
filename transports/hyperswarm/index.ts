/** Frames over Hyperswarm: `orrery/hyperswarm`. */
import type { HyperswarmOptions } from './hyperswarm-options.ts';
import { HyperswarmTransport } from './hyperswarm-transport.ts';

export type { CarriedConnection } from '../carried-connection.ts';
export type { HyperswarmOptions, HyperswarmTransport };

/**
 * Makes a transport over Hyperswarm: `hyperSwarm({ seed })`. The same seed gives the same address again.
 *
 * Throws INVALID_OPTIONS naming field and value.
 */
export const hyperSwarm = (options: HyperswarmOptions = {}): HyperswarmTransport =>
  new HyperswarmTransport(options, {
    module: new URL('./index.ts', import.meta.url).href,
    make: 'hyperSwarm',
    options,
  });
