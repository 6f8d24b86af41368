import type { WatchedEvent, WatchState } from '@orrery/visualiser/model';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../../test/fixtures/fake-clock.ts';
import { TeamRecord } from '../../../top/team-record.ts';
import { retryDelayMs } from '@orrery/visualiser/model';
import { type LinkStatus, WatchLink, type WatchSink } from '../../../watch/watch-link.ts';
import { stateJson, stateOf, told } from '../../fixtures/told.ts';

const sse = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
const stream = (...parts: string[]): Response =>
  new Response(parts.join(''), { headers: { 'content-type': 'text/event-stream' } });

/** A sink that remembers, and ends the link once it has been lost so many times. */
class Remembering implements WatchSink {
  readonly statuses: LinkStatus[] = [];
  readonly states: WatchState[] = [];
  readonly heard: WatchedEvent[] = [];
  readonly stop = new AbortController();
  readonly #losses: number;
  readonly #clock: FakeClock;

  constructor(clock: FakeClock, losses: number) {
    this.#clock = clock;
    this.#losses = losses;
  }

  state(state: WatchState): void {
    this.states.push(state);
  }

  events(events: readonly WatchedEvent[]): void {
    this.heard.push(...events);
  }

  linked(status: LinkStatus): void {
    this.statuses.push(status);
    if (status.kind !== 'lost') return;
    if (this.statuses.filter(({ kind }) => kind === 'lost').length >= this.#losses) this.stop.abort();
    else queueMicrotask(() => this.#clock.advance(status.retryAtMs - this.#clock.now()));
  }
}

async function linked(answers: readonly (() => Response)[], losses = answers.length) {
  const clock = new FakeClock(0);
  const sink = new Remembering(clock, losses);
  const asked: { url: string; authorization: string | null }[] = [];
  const fake = async (url: string, { headers }: { headers: Record<string, string> }) => {
    asked.push({ url, authorization: new Headers(headers).get('authorization') });
    return (answers[asked.length - 1] ?? stream)();
  };
  let tokens = 0;
  const target = () => ({ url: 'http://127.0.0.1:1', token: `token-${++tokens}` });
  const link = new WatchLink({ target, fetch: fake as typeof fetch, clock, sink });
  await link.run(sink.stop.signal);
  return { sink, asked };
}

describe('the connection to a team', () => {
  it('shows its token, and gives on states and events', async () => {
    const { sink, asked } = await linked([
      () =>
        stream(
          sse('state', stateJson(5, [{ id: 'mars' }])),
          ': ping\n\n',
          sse('events', [{ type: 'message-sent', timestamp: 6 }, { type: 7 }]),
          sse('of tomorrow', {}),
        ),
    ]);
    expect(asked).toEqual([{ url: 'http://127.0.0.1:1/watch/events', authorization: 'Bearer token-1' }]);
    expect(sink.states.map(({ agents }) => agents[0]?.id)).toEqual(['mars']);
    expect(sink.heard).toEqual([{ type: 'message-sent', timestamp: 6 }]);
    expect(sink.statuses).toEqual([
      { kind: 'connecting' },
      { kind: 'live' },
      { kind: 'lost', why: 'the team ended the connection', retryAtMs: 500 },
    ]);
  });

  it('is made again with longer and longer pauses, with the token of that time', async () => {
    const refuse = (): Response => {
      throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
    };
    const { sink, asked } = await linked([refuse, refuse, () => new Response('', { status: 503 })]);
    const losses = sink.statuses.filter((status) => status.kind === 'lost');
    expect(losses.map(({ why }) => why)).toEqual([
      'nobody listens there',
      'nobody listens there',
      'it answers with 503',
    ]);
    expect(losses.map(({ retryAtMs }) => retryAtMs)).toEqual([500, 1_500, 3_500]);
    expect(asked.map(({ authorization }) => authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-2',
      'Bearer token-3',
    ]);
    expect([1, 2, 5, 6, 100].map(retryDelayMs)).toEqual([500, 1_000, 8_000, 10_000, 10_000]);
  });

  it('is lost when nothing is heard for half a minute', async () => {
    const clock = new FakeClock(0);
    const sink = new Remembering(clock, 1);
    const fake = async (_url: string, { signal }: { signal: AbortSignal }) => {
      const body = new ReadableStream({
        start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
      });
      queueMicrotask(() => clock.advance(30_000));
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    const target = () => ({ url: 'http://127.0.0.1:1', token: undefined });
    await new WatchLink({ target, fetch: fake as typeof fetch, clock, sink }).run(sink.stop.signal);
    expect(sink.statuses.at(-1)).toMatchObject({ kind: 'lost', why: 'nothing was heard for 30 s' });
  });

  it.each([
    [401, 'The token is wrong: http://127.0.0.1:1 does not know it'],
    [403, 'http://127.0.0.1:1 knows the token, and does not let its owner watch'],
    [404, 'http://127.0.0.1:1 is no team that can be watched'],
  ])('is not tried again after %s', async (status, message) => {
    await expect(linked([() => new Response('', { status })])).rejects.toMatchObject({
      code: 'WATCH_REFUSED',
      message,
    });
  });
});

describe('what is kept of a team', () => {
  it('holds an event once, although it is told again after a lost connection', () => {
    const record = new TeamRecord(() => undefined);
    const [first, second] = [
      told('agent-started', 10, { agentId: 'mars' }),
      told('agent-started', 20, { agentId: 'venus' }),
    ];
    record.state({ ...stateOf(15, [{ id: 'mars' }]), recent: [first] });
    record.events([second]);
    record.state({
      ...stateOf(30, [{ id: 'mars' }]),
      recent: [first, second, told('agent-started', 25, { agentId: 'earth' })],
    });
    expect(record.recording.latest.totals.events).toBe(3);
  });
});
