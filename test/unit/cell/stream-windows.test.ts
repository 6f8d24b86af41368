import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { STREAM_WINDOW, StreamWindow } from '../../../runtime/cell/stream-windows.ts';

describe('The window of a stream', () => {
  it('has whoever is ahead wait for its reader, and leaves nothing at the signal of a long stream', async () => {
    const window = new StreamWindow();
    const { signal } = new AbortController();
    for (let n = 0; n < STREAM_WINDOW; n++) await window.take(signal);
    for (let n = 0; n < 100; n++) {
      const taken = window.take(signal);
      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
      window.pull(1);
      await taken;
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('ends the wait with the signal', async () => {
    const window = new StreamWindow();
    const abort = new AbortController();
    for (let n = 0; n < STREAM_WINDOW; n++) await window.take(abort.signal);
    const taken = window.take(abort.signal);
    abort.abort(new Error('it has left'));
    await expect(taken).rejects.toThrow('it has left');
  });
});
