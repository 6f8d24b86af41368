import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Team } from 'orrery';
import type { Contender, Session } from '../measurement.ts';
import { openTeam, tell } from './orrery.ts';

/** Reads what a page reads, in a process of its own. */
const WATCHER = new URL('../children/watcher.ts', import.meta.url);

/** The same tells, while a page is attached: the gateway serves it, and another process reads all that it is told. */
export const watchedTell: Contender = {
  name: 'orrery, a page attached',
  open: async () => {
    let watcher: ChildProcess | undefined;
    const session = await openTeam(
      { receivers: 'handler', layout: 'tiers', where: 'across' },
      tell,
      async (system) => {
        watcher = await startWatcher(system as Team);
      },
    );
    return ended(session, () => watcher);
  },
};

/** The same tells, while something in the process listens to so many events a second. */
export const inspectedTell: Contender = {
  name: 'orrery, inspected',
  open: async () => {
    const listen = async (system: Pick<Team, 'inspect'>): Promise<void> => {
      await system.inspect(() => undefined, { eventsPerSecond: 1_000, inOrder: true });
    };
    return openTeam({ receivers: 'handler', layout: 'tiers', where: 'across' }, tell, listen);
  },
};

async function startWatcher(system: Team): Promise<ChildProcess> {
  const { url } = await system.serve({ a2a: false, mcp: false, watch: {} });
  const watcher = spawn(process.execPath, [fileURLToPath(WATCHER), url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(watcher.stdout, 'data');
  return watcher;
}

const ended = ({ run, close }: Session, watcher: () => ChildProcess | undefined): Session => ({
  run,
  close: async () => {
    watcher()?.kill();
    await close();
  },
});
