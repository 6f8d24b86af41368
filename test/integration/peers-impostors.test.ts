import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AttackedNode, PATIENT } from '../fixtures/peers/attacked-node.ts';
import { BareListener, BareWire } from '../fixtures/peers/bare-wire.ts';
import { newNodeKey } from '../fixtures/peers/node-process.ts';
import { until } from '../fixtures/until.ts';

describe('A node that says that it is another one, or where another one is', () => {
  let attacked: AttackedNode;
  let since: number | undefined;
  const sinceOfOslo = async () => (await attacked.rome.peers()).find(({ node }) => node === 'oslo')?.sinceMs;
  const reasons = async () =>
    (await attacked.rome.call<{ reason?: string }[]>('events', 'channel-status')).map(
      ({ reason = '' }) => reason,
    );

  beforeEach(async () => {
    attacked = await AttackedNode.start({ ...PATIENT, reconnectTimeoutMs: 3_000 });
    since = await sinceOfOslo();
  });
  afterEach(async () => {
    await attacked[Symbol.asyncDispose]();
  });

  it('is refused, with a key that is trusted and with one that is not, and the right one works on', async () => {
    for (const key of [attacked.evil, newNodeKey()])
      await expect(BareWire.dial(attacked.address, { node: 'oslo', key })).rejects.toMatchObject({
        code: 'REFUSED',
      });
    // It proves who it is, and then calls itself another.
    using evil = await BareWire.dial(attacked.address, { node: 'evil', key: attacked.evil });
    await expect(evil.join('oslo')).rejects.toThrow('the connection is over');
    expect((await attacked.rome.peers()).map(({ node }) => node)).toEqual(['oslo']);
    expect(await sinceOfOslo()).toBe(since);
    await attacked.holdsOut();
  });

  it('diverts nobody to itself, nor to a third one, by the address of another node', async () => {
    const self = { node: 'evil', key: attacked.evil };
    let hellos = 0;
    let named: BareWire | undefined;
    let mayCome = true;
    await using listener = await BareListener.open(self, (wire, hello) => {
      hellos += 1;
      if (!mayCome) return wire[Symbol.dispose]();
      wire.welcome(hello);
      void wire.join().then(() => {
        wire.say({ type: 'endpoints', addresses: attacked.oslo.addresses });
        named = wire;
      });
    });
    await attacked.rome.call('dial', listener.address);
    await until('it has named the address of oslo', async () => named !== undefined);
    await named?.taken();
    // Now it is looked for there too.
    mayCome = false;
    named?.[Symbol.dispose]();
    await until('it was looked for at the address of oslo', async () =>
      (await reasons()).some((reason) => /oslo.*is at an address that somebody else has named/.test(reason)),
    );
    expect(hellos).toBeGreaterThan(1);
    expect((await attacked.rome.peers()).find(({ node }) => node === 'evil')?.status).not.toBe('up');
    expect(await sinceOfOslo()).toBe(since);
    await attacked.holdsOut();
  });
});
