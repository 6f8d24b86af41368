import { join } from 'node:path';
import { type Order, OrderSocket } from './order-socket.ts';
import { UsageError } from './usage-error.ts';

const SOCKET = '.sock';

export const socketOf = (folder: string, node: string): string => join(folder, `${node}${SOCKET}`);
export const nodeOfSocket = (file: string): string | undefined =>
  file.endsWith(SOCKET) ? file.slice(0, -SOCKET.length) : undefined;

/**
 * The way by which `orrery peers` reaches a running node. No caller of the gateway can reach it, whatever token they have. Throws
 * UsageError where a node of that name runs already, or no socket can be made.
 */
export const openNodeSocket = (folder: string, node: string, order: Order): Promise<OrderSocket> =>
  OrderSocket.open(socketOf(folder, node), order, {
    taken: () => new UsageError(`Option "--node" is "${node}": it runs here already`),
  });
