import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createV01 } from '../../../gateway/a2a/wire/v01/dialect.ts';
import { systemSeams } from '../../../runtime/protocol/system-seams.ts';
import { startA2AServer, type TestServer } from '../../fixtures/a2a-server.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { aeternaSpeaker } from '../../fixtures/rest-speakers.ts';
import { rpc01Speaker } from '../../fixtures/rpc-speakers.ts';
import type { Seen } from '../../fixtures/speaker.ts';
import { until } from '../../fixtures/until.ts';

let clock: FakeClock;
let server: TestServer;
beforeEach(async () => {
  clock = new FakeClock();
  const { rpc, rest } = createV01({ newId: systemSeams().newId });
  server = await startA2AServer({ clock, dialects: [rpc], rest: [rest] });
});
afterEach(() => server[Symbol.asyncDispose]());

describe.each([
  ['JSON-RPC', rpc01Speaker],
  ["seed 3's REST", aeternaSpeaker],
] as const)('tasks/send of a task that takes longer than 30 seconds, over %s', (_, speakerOf) => {
  it('is answered after 30 seconds: working, with how far it is, and can be asked for its end (A-10, A-11)', async () => {
    const speaker = speakerOf(server, 'alice@acme');
    let answer: Seen | undefined;
    // At once for the speaker alone: it asks once. The server waits as long as it does for anybody.
    const answered = speaker.send('hold', { atOnce: true }).then((seen) => {
      answer = seen;
      return seen;
    });
    await server.workshop.whenBegun(1);
    const [turn] = server.workshop.turns;
    const metadata = { progress: 0.4 };
    turn?.working({ messageId: 'm', role: 'agent', parts: [{ text: '4 of 10 read' }], metadata });
    await turn?.whenKept();
    await until('the answer waits', () => clock.pending > 0);
    expect(clock.nextInMs).toBe(30_000);
    await clock.advanceAsync(29_999);
    const id = turn?.opening.id ?? '';
    const owner = { principalId: 'key:alice', tenant: 'acme' };
    expect([server.tasks.get(owner, id).status.state, answer]).toEqual(['working', undefined]);
    await clock.advanceAsync(1);
    expect(await answered).toMatchObject({ state: 'working', said: '4 of 10 read', progress: 0.4 });
    await server.workshop.release(id);
    const ended = await until('it is over', async () => {
      const seen = await speaker.get((await answered).id);
      return seen.state !== 'working' && seen;
    });
    expect(ended).toMatchObject({ state: 'completed', artifacts: ['held'] });
  });
});
