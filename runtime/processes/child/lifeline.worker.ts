import { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { FD, USAGE_BYTES } from '../file-descriptors.ts';
import { endFamily, MARK } from '../../os/process-family.ts';

// The thread that ends the process when its host is gone, whatever the main thread does: a loop there does not stop it.
const { hasFamily } = workerData as { readonly hasFamily: boolean };
/** As it was before anybody's code could change it. */
const mark = process.env[MARK];
const lifeline = new Socket({ fd: FD.lifeline, readable: true, writable: true });

lifeline.on('data', (questions: Buffer) => {
  for (const _question of questions) {
    const { user, system } = process.cpuUsage();
    const answer = Buffer.alloc(USAGE_BYTES);
    answer.writeDoubleLE((user + system) / 1_000, 0);
    answer.writeDoubleLE(process.memoryUsage.rss(), 8);
    lifeline.write(answer);
  }
});
lifeline.on('error', () => undefined);
lifeline.on('close', endEverything);
lifeline.on('end', endEverything);

/** The process, and whatever it has started. */
function endEverything(): void {
  if (hasFamily) endFamily(process.pid, mark, process.pid);
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    process.kill(process.pid, 'SIGKILL'); // Not every system has groups.
  }
}

parentPort?.postMessage('watching');
