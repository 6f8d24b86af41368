import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Contender } from '../measurement.ts';
import { pipelined } from '../pipelined.ts';
import { BenchClient, CONNECTIONS } from './client.ts';
import type { ServerOrder } from './server-order.ts';
import { type ServerKind, startServer } from './server-process.ts';

/** One operation of a client; made once, when the server is there. */
export type Operate = (client: BenchClient) => Promise<() => Promise<unknown>>;

/**
 * - `kept`  tasks are kept in a file of SQLite: written ahead, and every commit synced, unless it says `unsynced`.
 * - `tasks` that are there when it begins.
 */
export interface ServedOptions {
  readonly name: string;
  readonly server: ServerKind;
  readonly agent?: ServerOrder['agent'];
  readonly kept?: boolean | 'unsynced';
  readonly tasks?: number;
  readonly operate: Operate;
}

const PACKAGES: Readonly<Record<ServerKind, readonly string[]>> = {
  sdk: ['@a2a-js/sdk', 'express', 'kysely'],
  orrery: ['hono', '@hono/node-server'],
};

/** A server in a process of its own, asked over 64 connections from this one. */
export const served = ({ name, server, agent, kept = false, tasks, operate }: ServedOptions): Contender => ({
  name,
  packages: PACKAGES[server],
  open: async () => {
    const folder = kept !== false ? await mkdtemp(join(tmpdir(), 'orrery-bench-gateway-')) : undefined;
    const process = await startServer(server, {
      ...(folder === undefined ? {} : { kept: join(folder, 'tasks.db') }),
      isSynced: kept !== 'unsynced',
      ...(tasks === undefined ? {} : { tasks }),
      ...(agent === undefined ? {} : { agent }),
    });
    const client = new BenchClient(process.url);
    const operation = await operate(client);
    return {
      run: (count) => pipelined(count, CONNECTIONS, operation),
      close: async () => {
        await client.close();
        await process.close();
        if (folder !== undefined) await rm(folder, { recursive: true, force: true });
      },
    };
  },
});
