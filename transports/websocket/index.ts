/** Frames over WebSockets: `orrery/websocket`. */
import { type WebSocketOptions, WebSocketTransport } from './web-socket-transport.ts';

export type { CarriedConnection } from '../carried-connection.ts';
export type { WebSocketOptions, WebSocketTransport };

/**
 * Makes a transport over WebSockets: `webSocket({ port: 7400 })`. It listens on 127.0.0.1 unless `host` says otherwise.
 *
 * Throws INVALID_OPTIONS naming field and value.
 */
export const webSocket = (options: WebSocketOptions = {}): WebSocketTransport =>
  new WebSocketTransport(options, {
    module: new URL('./index.ts', import.meta.url).href,
    make: 'webSocket',
    options,
  });
