import { describe, expect, it, vi } from 'vitest';
import { asked, heard, say } from '../../../fixtures/lango/bare-peer.ts';
import { langoHouse, someone } from '../../../fixtures/lango/lango-house.ts';

const invoke = (token: string): string =>
  JSON.stringify({
    type: 'tool_invoke',
    sessionToken: token,
    requestId: 'r',
    payload: { toolName: 'search' },
  });

describe('A stream of somebody who means no good', () => {
  it('of 1 GB is cut at the cap, with no more held', async () => {
    const house = langoHouse();
    const { theirs, ours, served } = house.streamOf();
    say(theirs, '{"payload":{"x":"');
    const part = Buffer.alloc(65_536, 'x');
    let sent = 0;
    for (; sent < 1_000_000_000 && theirs.abortedWith === undefined; sent += part.length) {
      try {
        if (!theirs.send(part)) await theirs.onDrain();
      } catch {
        break;
      }
    }
    await served;
    expect(sent).toBeLessThan(2_000_000);
    expect(ours.waiting).toBeLessThan(1_000_000);
    expect(ours.abortedWith).toMatchObject({ code: 'BODY_TOO_LARGE' });
    expect([house.server.openStreams, house.clock.pending]).toEqual([0, 0]);
  });

  it('of a byte a second is cut after the time for a whole request', async () => {
    const house = langoHouse();
    const { theirs, ours, served } = house.streamOf();
    const bytes = invoke(house.token);
    for (let second = 0; second < 10; second++) {
      expect(ours.abortedWith).toBeUndefined();
      say(theirs, bytes[second] as string);
      await house.clock.advanceAsync(1_000);
    }
    await served;
    expect(ours.abortedWith).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect([house.server.openStreams, house.clock.pending]).toEqual([0, 0]);
  });

  it('that says nothing is cut', async () => {
    const house = langoHouse();
    const { ours, served } = house.streamOf();
    await house.clock.advanceAsync(10_000);
    await served;
    expect(ours.abortedWith).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });

  it('that does not take the answer is cut', async () => {
    const house = langoHouse({ executor: () => ({ text: 'x'.repeat(500_000) }) });
    const { theirs, ours, served } = house.streamOf();
    say(theirs, invoke(house.token));
    await house.clock.advanceAsync(9_999);
    expect(theirs.waiting).toBeLessThan(300_000);
    expect(ours.abortedWith).toBeUndefined();
    await house.clock.advanceAsync(10_001);
    await served;
    expect(ours.abortedWith).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect([house.server.openStreams, house.clock.pending]).toEqual([0, 0]);
  });

  it('that takes the answer and stays open is cut', async () => {
    const house = langoHouse();
    const { theirs, ours, served } = house.streamOf();
    say(theirs, invoke(house.token));
    expect(await heard(theirs)).toContain('"ok"');
    await house.clock.advanceAsync(10_000);
    await served;
    expect(ours.abortedWith).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });

  it('that goes on after its request is cut', async () => {
    const house = langoHouse({ executor: () => new Promise(() => undefined) });
    const { theirs, ours, served } = house.streamOf();
    say(theirs, invoke(house.token));
    say(theirs, ' '.repeat(1_100));
    await served;
    expect(ours.abortedWith).toBeDefined();
    expect(house.server.openStreams).toBe(0);
  });

  it('is one of so many at once, of each peer and of all', async () => {
    const house = langoHouse({ handler: { maxStreamsPerPeer: 2, maxStreams: 3 } });
    const [bob, carol] = [someone('bob').peer, someone('carol').peer];
    const open = [house.streamOf(), house.streamOf()];
    const refused = [house.streamOf()];
    open.push(house.streamOf(bob));
    refused.push(house.streamOf(carol));
    for (const { ours } of open) expect(ours.abortedWith).toBeUndefined();
    for (const { ours } of refused) expect(ours.abortedWith).toMatchObject({ code: 'REFUSED' });
    expect(house.server.openStreams).toBe(3);
    for (const { theirs } of open) theirs.abort(new Error('gone'));
    await Promise.all(open.map(({ served }) => served));
    expect(house.server.openStreams).toBe(0);
    expect(await asked(house.streamOf().theirs, invoke(house.token))).toContain('"ok"');
  });

  it('that is reset ends its tool', async () => {
    const heardOf = vi.fn();
    const house = langoHouse({
      executor: (_, __, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            heardOf();
            reject(signal.reason);
          });
        }),
    });
    const { theirs, served } = house.streamOf();
    say(theirs, invoke(house.token));
    await house.clock.advanceAsync(1);
    theirs.abort(new Error('gone'));
    await served;
    expect(heardOf).toHaveBeenCalledOnce();
    for (let n = 0; n < 5; n++) {
      const again = house.streamOf();
      say(again.theirs, invoke(house.token));
      await house.clock.advanceAsync(1);
      again.theirs.abort(new Error('gone'));
      await again.served;
    }
    // Nothing of that has failed: the session stays.
    expect(house.sessions.get(house.alice.did)).toBeDefined();
    expect(heardOf).toHaveBeenCalledTimes(6);
    expect([house.server.openStreams, house.clock.pending]).toEqual([0, 0]);
  });
});

describe('A tool that takes too long', () => {
  it('is ended, and the peer is told', async () => {
    const heardOf = vi.fn();
    const house = langoHouse({
      executor: (_, __, { signal }) => {
        signal.addEventListener('abort', heardOf);
        return new Promise(() => undefined);
      },
    });
    const { theirs, served } = house.streamOf();
    say(theirs, invoke(house.token));
    await house.clock.advanceAsync(30_000);
    expect(await heard(theirs)).toContain(
      '"status":"error","error":"The tool search was not answered within 30000 ms"',
    );
    await theirs.close();
    await served;
    expect(heardOf).toHaveBeenCalledOnce();
  });
});
