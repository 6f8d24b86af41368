import { pairEnd } from './pair-end.ts';

const HANDLING_MS = 1;

const { port } = pairEnd();
const asleep = new Int32Array(new SharedArrayBuffer(4));

port.on('message', () => {
  Atomics.wait(asleep, 0, 0, HANDLING_MS);
});
