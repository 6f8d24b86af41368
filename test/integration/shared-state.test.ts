import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memberKeyPair } from '../../actors/shared-state/member-keys.ts';
import type { SyncCounts } from '../../actors/shared-state/crdt-sync-channel.ts';
import { until } from '../fixtures/until.ts';
import { arbDocumentChange, type contentOf } from '../property/arbitraries/crdt-sync-message.ts';

interface Report {
  readonly content: ReturnType<typeof contentOf>;
  readonly clock: Record<string, number>;
  readonly counts: SyncCounts;
}

const IDS = ['mars', 'venus'];

/** Two members of one channel, each in its own worker thread, with a port between them that `carry` connects. */
async function twoThreads(carry: (to: MessagePort, message: unknown) => void) {
  const keys = IDS.map(() => memberKeyPair());
  const members = IDS.map((agentId, at) => ({ agentId, tier: 1, publicKey: keys[at]?.publicKey }));
  const lines = IDS.map(() => new MessageChannel());
  lines.forEach(({ port1 }, at) => {
    const to = lines[1 - at]?.port1 as MessagePort;
    port1.on('message', (message) => carry(to, message));
  });
  const workers = IDS.map((agentId, at) => {
    const port = lines[at]?.port2 as MessagePort;
    const workerData = { agentId, privateKey: keys[at]?.privateKey, members, port };
    return new Worker(new URL('../fixtures/sync-member.worker.ts', import.meta.url), {
      workerData,
      transferList: [port],
    });
  });
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const ask = async (worker: Worker): Promise<Report> => {
    const answer = once(worker, 'message');
    worker.postMessage({ report: true });
    const [report] = await answer;
    return report as Report;
  };
  return {
    workers,
    reports: () => Promise.all(workers.map(ask)),
    close: async () => {
      const exits = workers.map((worker) => once(worker, 'exit'));
      for (const worker of workers) worker.postMessage({ close: true });
      await Promise.all(exits);
      for (const { port1 } of lines) port1.close();
    },
  };
}

/** Both have made and applied the same updates, and hold the same document. */
async function converged(team: Awaited<ReturnType<typeof twoThreads>>): Promise<Report[]> {
  return until('both documents are the same', async () => {
    const reports = await team.reports();
    const [one, other] = reports as [Report, Report];
    return isDeepStrictEqual([one.content, one.clock], [other.content, other.clock]) && reports;
  });
}

const changesOf = (seed: number) => fc.sample(arbDocumentChange(), { numRuns: 60, seed });

describe('Shared state across threads (N-P28, N-9.1, N-9.2, N-9.3, N-T04)', () => {
  it('converges when two threads change their documents at the same time', async () => {
    const team = await twoThreads((to, message) => to.postMessage(message));
    for (const [at, worker] of team.workers.entries()) worker.postMessage({ changes: changesOf(at + 1) });
    const [mars, venus] = (await converged(team)) as [Report, Report];
    expect(mars.counts.sent).toBeGreaterThan(20);
    expect(venus.counts.applied).toBe(mars.counts.sent);
    expect(mars.counts.applied).toBe(venus.counts.sent);
    expect(mars.clock).toEqual({ mars: mars.counts.sent, venus: venus.counts.sent });
    await team.close();
  });

  it('converges when the line between them loses, repeats and spoils messages', async () => {
    let carried = 0;
    const team = await twoThreads((to, message) => {
      carried += 1;
      const { kind, payload } = message as { kind: string; payload: Uint8Array };
      if (kind === 'update' && carried % 5 === 0) return;
      if (kind === 'update' && carried % 7 === 0) payload[0] = (payload[0] as number) ^ 1;
      to.postMessage(message);
      if (carried % 3 === 0) to.postMessage(message);
    });
    for (const [at, worker] of team.workers.entries()) worker.postMessage({ changes: changesOf(at + 3) });
    const reports = await converged(team);
    const refused = reports.map(({ counts }) => counts.refused);
    expect(refused.every(({ FORGED = 0, DUPLICATE = 0 }) => FORGED > 0 && DUPLICATE > 0)).toBe(true);
    expect(reports.every(({ counts }) => counts.waiting.messages === 0)).toBe(true);
    await team.close();
  });
});
