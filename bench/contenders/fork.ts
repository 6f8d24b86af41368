import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { envelopeSource } from '../envelope.ts';
import type { Contender } from '../measurement.ts';
import { pipelined } from '../pipelined.ts';
import type { RawReply } from '../workers/raw-ask-receiver.worker.ts';

const CHILD = fileURLToPath(new URL('../children/fork-receiver.ts', import.meta.url));

/** `child_process.fork` and its IPC, a promise a request, `width` of them in flight: nothing is permitted or refused. */
export const forkAsk = (receivers: number, width: number): Contender => ({
  name: 'fork IPC',
  open: async () => {
    const makeEnvelope = envelopeSource(receivers, 'request');
    const waiting = new Map<string, (payload: unknown) => void>();
    const child = fork(CHILD, [String(receivers)]);
    child.on('message', ({ id, payload }: RawReply) => {
      const resolve = waiting.get(id);
      waiting.delete(id);
      resolve?.(payload);
    });
    await once(child, 'spawn');
    let sent = 0;
    const ask = (): Promise<unknown> => {
      const envelope = makeEnvelope(sent++);
      return new Promise((resolve) => {
        waiting.set(envelope.id, resolve);
        child.send(envelope);
      });
    };
    return {
      run: (count) => pipelined(count, width, ask),
      close: async () => {
        const gone = once(child, 'exit');
        child.kill();
        await gone;
      },
    };
  },
});
