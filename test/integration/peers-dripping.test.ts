import { expect, it } from 'vitest';
import { AttackedNode } from '../fixtures/peers/attacked-node.ts';
import { BareWire } from '../fixtures/peers/bare-wire.ts';

it('A trusted node that says its next frame byte by byte is cut off when it has been silent for as long as any other', async () => {
  await using attacked = await AttackedNode.start({ silenceTimeoutMs: 6_000 });
  using evil = await BareWire.dial(attacked.address, { node: 'evil', key: attacked.evil });
  await evil.join();
  // A text frame of 60,000 bytes, masked with zeros.
  evil.socket.write(Buffer.from([0x81, 0x80 | 126, 0xea, 0x60, 0, 0, 0, 0]));
  const timer = setInterval(() => evil.socket.write('x'), 1_000);
  try {
    await evil.closed;
  } finally {
    clearInterval(timer);
  }
  await attacked.rome.sees('evil', 'rejoining');
  expect((await attacked.rome.peers()).find(({ node }) => node === 'oslo')).toMatchObject({ status: 'up' });
  await attacked.holdsOut();
});
