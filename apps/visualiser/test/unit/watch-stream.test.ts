import { describe, expect, it } from 'vitest';
import { type StreamStatus, WatchStream } from '../../worker/watch-stream.ts';

const STATE = { format: 'orrery-watch', version: 1, nowMs: 5 };
const frame = (event: string, data: unknown): string =>
  `id: 1\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** A stream whose answers and timers a test gives by hand. */
function watched() {
  const statuses: StreamStatus[] = [];
  const got: string[] = [];
  const timers: { readonly callback: () => void; readonly ms: number }[] = [];
  const answers: ((response: Response | Error) => void)[] = [];
  const stream = new WatchStream('t', {
    fetch: (_path, { headers }) => {
      got.push((headers as Record<string, string>)['authorization'] ?? '');
      return new Promise((resolve, reject) =>
        answers.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer))),
      );
    },
    setTimer: (callback, ms) => {
      const timer = { callback, ms };
      timers.push(timer);
      return () => timers.splice(timers.indexOf(timer), 1);
    },
    onStatus: (status) => statuses.push(status),
    onState: ({ nowMs }, isFirst) => got.push(`${isFirst ? 'first ' : ''}state ${nowMs}`),
    onEvents: (events) => got.push(`events ${events.map(({ type }) => type).join(' ')}`),
  });
  const states = (): string[] => statuses.map(({ state }) => state);
  return { stream, statuses, states, got, timers, answers };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the stream of a team', () => {
  it('is connected when the first state has come, and hands on what it can read', async () => {
    const { stream, states, got, answers } = watched();
    stream.start();
    answers[0]?.(
      new Response(
        frame('state', STATE) +
          frame('events', [{ type: 'x', timestamp: 1 }, 7]) +
          frame('state', STATE) +
          frame('state', 'no'),
      ),
    );
    await settle();
    expect(got).toEqual(['Bearer t', 'first state 5', 'events x', 'state 5']);
    expect(states()).toEqual(['connecting', 'connected', 'reconnecting']);
  });

  it('connects again, more and more seldom, and begins anew once it was connected', async () => {
    const { stream, statuses, timers, answers, states } = watched();
    stream.start();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      answers.pop()?.(new Error('refused'));
      await settle();
      const [timer] = timers.splice(0);
      waits.push(timer?.ms ?? 0);
      timer?.callback();
    }
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000]);
    expect(statuses.at(-1)).toEqual({ state: 'reconnecting', reason: 'refused', attempt: 6 });
    answers.pop()?.(new Response(frame('state', STATE)));
    await settle();
    expect(states().slice(-2)).toEqual(['connected', 'reconnecting']);
    expect(statuses.at(-1)).toMatchObject({ attempt: 1, reason: 'the other side closed the connection' });
  });

  it.each([
    [401, 'wrong-token'],
    [403, 'may-not-watch'],
  ])('asks no more when it is refused with %i', async (status, state) => {
    const { stream, states, timers, answers } = watched();
    stream.start();
    answers[0]?.(new Response('', { status }));
    await settle();
    expect(states()).toEqual(['connecting', state]);
    expect(timers).toEqual([]);
  });

  it('takes long silence for a lost connection', async () => {
    const { stream, timers, answers, states } = watched();
    stream.start();
    const abort = new AbortController();
    answers[0]?.(
      new Response(
        new ReadableStream({
          start: (body) => abort.signal.addEventListener('abort', () => body.error(new Error('silence'))),
        }),
      ),
    );
    await settle();
    expect(timers.map(({ ms }) => ms)).toEqual([20_000]);
    abort.abort();
    await settle();
    expect(states().at(-1)).toBe('reconnecting');
    stream.stop();
    expect(states().at(-1)).toBe('stopped');
  });
});
