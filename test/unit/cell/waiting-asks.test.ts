import { describe, expect, it } from 'vitest';
import { AskTable, WaitingStream, WaitingValue } from '../../../runtime/cell/waiting-asks.ts';
import { STREAM_WINDOW } from '../../../runtime/cell/stream-windows.ts';
import { Mail, NO_ASK, REPLY } from '../../../runtime/mailbox/mail.ts';
import { actorDied, cancelled, errorToData } from '../../../runtime/protocol/errors.ts';
import type { Taint } from '../../../runtime/protocol/taint.ts';

const newMail = (sender = 'system/host'): Mail =>
  new Mail('m', 'o', 0, sender, 'mars', 'm', 0, 1, 'survey', 0, NO_ASK, undefined, undefined);

/** An ask for one value; `heard` is what its asker was told, in order. */
function asked(sender?: string) {
  const heard: unknown[] = [];
  const waiting = new WaitingValue(
    newMail(sender),
    undefined,
    (value) => void heard.push(['value', value]),
    (error) => void heard.push(['error', (error as { code?: string }).code]),
    {
      onProgress: (progress) => void heard.push(['progress', progress]),
      onTaint: (taint) => void heard.push(['taint', taint]),
    },
  );
  return { waiting, heard };
}

describe('The asks of a thread that wait', () => {
  it('are each ended by the first answer that is the last one, and not by what comes before it', () => {
    const table = new AskTable();
    const { waiting, heard } = asked();
    const ask = table.open(waiting);
    table.answer(ask, REPLY.progress, [0.5, 'half']);
    expect(table.size).toBe(1);
    table.answer(ask, REPLY.value, 'here');
    table.answer(ask, REPLY.value, 'again');
    table.answer(ask, REPLY.error, errorToData(cancelled('It')));
    expect(table.close(ask)).toBeUndefined();
    expect([heard, table.size]).toEqual([
      [
        ['progress', { fraction: 0.5, note: 'half' }],
        ['value', 'here'],
      ],
      0,
    ]);
  });

  it('have names of their own: a late answer to an older one of the same place is for nobody', () => {
    const table = new AskTable();
    const [old, next] = [asked(), asked()];
    const late = table.open(old.waiting);
    table.close(late);
    const ask = table.open(next.waiting);
    expect(ask).not.toBe(late);
    table.answer(late, REPLY.value, 'late');
    expect([table.get(late), table.get(ask), next.heard]).toEqual([undefined, next.waiting, []]);
    expect([...table.waiting()]).toEqual([[ask, next.waiting]]);
  });

  it('let go of their timer and signal when they end, whatever ended them', () => {
    const table = new AskTable();
    for (const end of [
      (ask: number) => table.answer(ask, REPLY.empty, undefined),
      (ask: number) => void table.close(ask)?.fail(cancelled('It')),
    ]) {
      const { waiting } = asked();
      const left: string[] = [];
      waiting.timer = { cancel: () => void left.push('timer') };
      waiting.release = () => void left.push('signal');
      waiting.onOver = () => void left.push('over');
      end(table.open(waiting));
      expect(left).toEqual(['timer', 'signal', 'over']);
    }
  });

  it('learn where an answer came from before they have it', () => {
    const table = new AskTable();
    const { waiting, heard } = asked();
    const absorbed: Taint[] = [];
    waiting.absorbs = (taint) => void absorbed.push(taint);
    table.answer(table.open(waiting), REPLY.value, 1, ['web:a']);
    expect(heard).toEqual([
      ['taint', ['web:a']],
      ['value', 1],
    ]);
    expect(absorbed).toEqual([['web:a']]);
  });

  it('have in the error what the work came to, however they failed', async () => {
    const table = new AskTable();
    const died = errorToData(actorDied('mars', 'it exited'));
    for (const fail of [
      (ask: number) => table.answer(ask, REPLY.error, died),
      (ask: number) => void table.close(ask)?.fail(cancelled('It')),
    ]) {
      const { promise, resolve, reject } = Promise.withResolvers();
      const waiting = new WaitingValue(newMail(), undefined, resolve as never, reject, {});
      const ask = table.open(waiting);
      table.answer(ask, REPLY.progress, [0.5, null, { pages: 3 }]);
      fail(ask);
      await expect(promise).rejects.toMatchObject({ details: { partial: { pages: 3 } } });
    }
  });

  it('tell agents no more of a failure than code and message, and the embedder where it was thrown', async () => {
    const data = { ...errorToData(actorDied('mars', 'it exited')), stack: 'Error: it exited\n    at dig' };
    const stackFor = async (sender: string): Promise<string> => {
      const { promise, resolve, reject } = Promise.withResolvers();
      const waiting = new WaitingValue(newMail(sender), undefined, resolve as never, reject, {});
      waiting.answer(REPLY.error, data);
      return promise.then(
        () => '',
        (error: Error) => `${error.stack} ${(error.cause as Error | undefined)?.stack}`,
      );
    };
    expect(await stackFor('system/host')).toContain('at dig');
    expect(await stackFor('venus')).not.toContain('at dig');
  });
});

describe('A stream that is asked for', () => {
  function streamed() {
    let nowMs = 0;
    const pulls: number[] = [];
    const stream = new WaitingStream<number>(newMail(), undefined, {
      nowMs: () => nowMs,
      onPull: (_, count) => void pulls.push(count),
      listeners: {},
    });
    stream.agentId = 'mars';
    return {
      stream,
      pulls,
      pass: (ms: number): void => {
        nowMs += ms;
      },
    };
  }

  it('gives what has come before it ends, in order, and then what ended it early', async () => {
    const { stream } = streamed();
    stream.answer(REPLY.chunk, 1);
    stream.answer(REPLY.chunk, 2);
    stream.fail(cancelled('It'));
    expect([await stream.next(), await stream.next()].map(({ value }) => value)).toEqual([1, 2]);
    await expect(stream.next()).rejects.toMatchObject({ code: 'CANCELLED' });
    expect([stream.isEnded, stream.errorCode]).toEqual([true, 'CANCELLED']);
  });

  it('wakes whoever reads for a chunk, and for its end', async () => {
    const { stream } = streamed();
    const first = stream.next();
    expect(stream.answer(REPLY.chunk, 1)).toBe(true);
    expect(await first).toEqual({ value: 1, done: false });
    const last = stream.next();
    expect(stream.answer(REPLY.end, undefined)).toBe(false);
    expect(await last).toEqual({ value: undefined, done: true });
  });

  it('says that the agent has one value, if that is what it answers', async () => {
    const { stream } = streamed();
    stream.answer(REPLY.value, 1);
    await expect(stream.next()).rejects.toMatchObject({
      code: 'REFUSED',
      message: 'mars answers "survey" with one value: ask for it with ask()',
    });
  });

  it('lets the handler go on for half a window that is read, sooner for a slow reader, and not after its end', async () => {
    const { stream, pulls, pass } = streamed();
    const half = STREAM_WINDOW / 2;
    for (let n = 0; n < half + 3; n++) stream.answer(REPLY.chunk, n);
    for (let n = 0; n < half - 1; n++) await stream.next();
    expect(pulls).toEqual([]);
    await stream.next();
    expect(pulls).toEqual([half]);
    await stream.next();
    pass(60);
    await stream.next();
    expect(pulls).toEqual([half, 2]);
    stream.answer(REPLY.end, undefined);
    pass(60);
    await stream.next();
    expect(pulls).toEqual([half, 2]);
  });
});
