import { describe, expect, it } from 'vitest';
import type { AskOptions } from '../../../runtime/agent/context.ts';
import type { Handling } from '../../../runtime/cell/handling.ts';
import type { AgentProcess } from '../../../runtime/processes/agent-process.ts';
import { ProcessRequests } from '../../../runtime/processes/process-requests.ts';

describe('What the code in a process has asked', () => {
  it('tells it of progress as long as it reads that, and of the answer in any case', async () => {
    const told: unknown[] = [];
    const process = { backlogBytes: 0, write: (frame: { kind: string }) => void told.push(frame.kind) };
    const requests = new ProcessRequests('mars', process as unknown as AgentProcess, false);
    const ask = async (_target: unknown, _input: unknown, { onProgress }: AskOptions) => {
      onProgress?.({ fraction: 0.1 });
      process.backlogBytes = 2 ** 30;
      for (let at = 0; at < 100; at += 1) onProgress?.({ fraction: 0.2 });
      return 'done';
    };
    const target = { agent: 'venus', capability: { id: 'x' } };
    const about = { n: 1, a: 1, target, options: {}, isFollowed: true, isAnnounced: false };
    requests.begin({ t: 'ask', ...about }, { ask } as unknown as Handling);
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual(['progress', 'value']);
  });

  it('is let go of when its work is done, though it has not read a stream to its end', async () => {
    const told: unknown[] = [];
    const process = { backlogBytes: 0, write: (frame: { kind: string }) => void told.push(frame.kind) };
    const requests = new ProcessRequests('mars', process as unknown as AgentProcess, false);
    let isEnded = false;
    const stream = async function* (): AsyncGenerator<number> {
      try {
        for (let n = 0; ; n++) yield n;
      } finally {
        isEnded = true;
      }
    };
    const target = { agent: 'venus', capability: { id: 'x' } };
    const about = { n: 7, a: 1, target, options: {}, isFollowed: false, isAnnounced: false };
    requests.begin({ t: 'read', ...about }, { stream } as unknown as Handling);
    requests.want(1, 2);
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    await turn();
    expect({ told, isEnded }).toEqual({ told: ['chunk', 'chunk'], isEnded: false });
    requests.workOver(8);
    await turn();
    expect(isEnded).toBe(false);
    requests.workOver(7);
    await turn();
    expect({ told, isEnded }).toEqual({ told: ['chunk', 'chunk', 'end'], isEnded: true });
  });
});
