import { capability, defineAgent, type OrreryError, type System, startSystem } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  answerOddly,
  anything,
  decline,
  double,
  fail,
  lives,
  mirror,
  silent,
  unhandled,
  wait,
  waits,
} from '../fixtures/agents/answers.ts';
import { askAnything, askDoubles, sendOddly } from '../fixtures/agents/asker.ts';
import { startAnsweringTeam } from '../fixtures/answering-team.ts';
import { rejection, until } from '../fixtures/until.ts';

let system: System;

beforeAll(async () => {
  system = await startAnsweringTeam();
});
afterAll(() => system.stop());

const aborted = async (note: string): Promise<string | undefined> =>
  (await system.ask(waits, undefined)).aborted.find((one) => one.startsWith(`${note} `));

describe('An ask that is answered', () => {
  it('places its agents in both workers', async () => {
    const places = (await system.roster()).map(({ id, place }) => `${id} ${place}`);
    expect(places).toEqual(['answers worker-1', 'far worker-2', 'near worker-1']);
  });

  it('resolves to what the handler returned, asked by capability or by agent', async () => {
    expect(await system.ask(double, { n: 21 })).toBe(42);
    expect(await system.ask({ agent: 'answers', capability: double }, { n: 4 })).toBe(8);
  });

  it('carries undefined both ways', async () => {
    expect(await system.ask(silent, undefined)).toBeUndefined();
  });

  it('carries 5 MB both ways', async () => {
    const text = 'ÿ😀'.repeat(5_000_000 / 8);
    expect((await system.ask(mirror, text)) === text).toBe(true);
  });

  it("carries dates, maps, bytes and bigints where the capability says carries: 'structured'", async () => {
    const input = {
      at: new Date(86_400_000),
      counts: new Map([['apples', 1]]),
      bytes: new Uint8Array([0, 255, 7]),
      big: 2n ** 70n,
    };
    expect(await system.ask(anything, input)).toEqual({
      at: new Date(86_400_001),
      counts: new Map([['apples', 2]]),
      bytes: new Uint8Array([255, 0, 248]),
      big: 2n ** 140n,
    });
  });

  it.each(['far', 'near'])('carries them between agents too (%s)', async (asking) => {
    const answer = await system.ask({ agent: asking, capability: askAnything }, { agent: 'answers' });
    expect(answer).toEqual(['1970-01-01T00:00:00.002Z', '[["a",2]]', '255,254', '9']);
  });

  it('answers each of many at once with its own answer', async () => {
    const numbers = Array.from({ length: 60 }, (_, n) => n);
    const answers = await Promise.all(numbers.map((n) => system.ask(double, { n })));
    expect(answers).toEqual(numbers.map((n) => 2 * n));
  });
});

describe('An ask that cannot be sent (N-E01, N-E02, N-V02)', () => {
  it('names an agent that nobody knows', async () => {
    const { code, message } = await rejection(system.ask({ agent: 'nobody', capability: double }, { n: 1 }));
    expect(code).toBe('AGENT_NOT_FOUND');
    expect(message).toContain('"nobody"');
  });

  it('names a capability that nobody has', async () => {
    const { code, message } = await rejection(system.ask(unhandled, { n: 1 }));
    expect(code).toBe('CAPABILITY_NOT_FOUND');
    expect(message).toContain('"sums.halve"');
  });

  it('is REFUSED by an agent that handles other capabilities', async () => {
    const { code, message } = await rejection(
      system.ask({ agent: 'answers', capability: unhandled }, { n: 1 }),
    );
    expect(code).toBe('REFUSED');
    expect(message).toContain('"sums.halve"');
    expect(await system.ask(double, { n: 1 })).toBe(2);
  });

  it('says in the result of a tell what an ask rejects with', () => {
    expect(system.tell(double, { n: 1 })).toMatchObject({
      delivered: true,
      path: 'local',
      targetAgentId: 'answers',
    });
    expect(system.tell('nobody', 1)).toMatchObject({
      delivered: false,
      errorCode: 'AGENT_NOT_FOUND',
      targetAgentId: 'nobody',
    });
    expect(system.tell(unhandled, { n: 1 })).toMatchObject({
      delivered: false,
      errorCode: 'CAPABILITY_NOT_FOUND',
    });
  });

  it('is refused when its input does not fit the schema, naming the field', async () => {
    const { code, message } = await rejection(system.ask(double, { n: 'one' as never }));
    expect(code).toBe('INVALID_PAYLOAD');
    expect(message).toContain('n is "one", expected a number');
    expect(system.tell(double, { n: 'one' as never })).toMatchObject({
      delivered: false,
      errorCode: 'INVALID_PAYLOAD',
    });
  });
});

describe('Options that are none', () => {
  it.each([
    ['timeoutMs', Number.POSITIVE_INFINITY],
    ['timeoutMs', Number.NaN],
    ['timeoutMs', '100' as never],
  ])('are refused with INVALID_OPTIONS, naming field and value: %s %s', async (_, timeoutMs) => {
    const { code, message } = await rejection(system.ask(double, { n: 1 }, { timeoutMs }));
    expect(code).toBe('INVALID_OPTIONS');
    expect(message).toMatch(/^timeoutMs is "?(Infinity|NaN|100)"?, expected/);
  });

  it('are refused of a tell too', () => {
    expect(() => system.tell(double, { n: 1 }, { type: 'shout' as never })).toThrow(
      /^type is "shout", expected "request", /,
    );
    expect(() => system.tell(double, { n: 1 }, { deadlineAtMs: Number.NaN })).toThrow(/^deadlineAtMs is NaN/);
  });

  it('do not include a time that is over already: that is DEADLINE_EXCEEDED', async () => {
    expect((await rejection(system.ask(double, { n: 1 }, { timeoutMs: 0 }))).code).toBe('DEADLINE_EXCEEDED');
    expect(system.tell(double, { n: 1 }, { deadlineAtMs: 1 })).toMatchObject({
      delivered: false,
      errorCode: 'DEADLINE_EXCEEDED',
    });
  });
});

describe('A payload that JSON cannot carry', () => {
  const loose = capability({
    id: 'texts.mirror',
    description: 'The same capability as a careless caller sees it',
    input: z.unknown(),
    output: z.unknown(),
  });
  const circle: { back?: unknown } = {};
  circle.back = circle;
  const payloads: [string, unknown, string][] = [
    ['a bigint', { deep: [1, { big: 1n }] }, 'payload.deep[1].big'],
    ['a Map', { names: new Map() }, 'payload.names'],
    ['a Date', { at: new Date(0) }, 'payload.at'],
    ['bytes', new Uint8Array(1), 'payload'],
    ['a function', [() => 1], 'payload[0]'],
    ['a circle', circle, 'payload.back'],
    ['NaN', { n: Number.NaN }, 'payload.n'],
  ];

  it.each(payloads)('is refused before it is sent, naming the field: %s', async (_, payload, field) => {
    const { code, message } = await rejection(system.ask(loose, payload));
    expect(code).toBe('NOT_SERIALISABLE');
    expect(message).toContain(`${field} holds`);
    const told = system.tell({ agent: 'answers', capability: loose }, payload);
    expect(told).toMatchObject({ delivered: false, errorCode: 'NOT_SERIALISABLE' });
    expect(told.error).toContain(`${field} holds`);
  });

  it('fails alone when an agent asks with it: the others of the same batch are answered', async () => {
    const outcomes = await system.ask(
      { agent: 'far', capability: sendOddly },
      { agent: 'answers', count: 41, way: 'ask' },
    );
    const codes = outcomes.map(({ code, value }) => code ?? value);
    const expected = Array.from({ length: 41 }, (_, n) => (n === 20 ? 'NOT_SERIALISABLE' : 2 * n));
    expect(codes).toEqual(expected);
    expect(outcomes[20]?.message).toMatch(/payload.*n/);
  });

  it('is dead-lettered alone when an agent tells it: the others of the same batch are handled', async () => {
    const before = await system.conservation();
    await system.ask({ agent: 'far', capability: sendOddly }, { agent: 'answers', count: 41, way: 'tell' });
    const after = await until('all are settled', async () => {
      const now = await system.conservation();
      return now.inFlight === 0 && now;
    });
    expect(after.handled - before.handled).toBe(41);
    expect(after.deadLettered - before.deadLettered).toBe(1);
    expect(after.holds).toBe(true);
    const letter = (await system.deadLetters()).at(-1);
    expect(letter).toMatchObject({ code: 'NOT_SERIALISABLE', sender: 'far', recipient: 'answers' });
  });

  it.each(['bigint', 'circle'] as const)('rejects the ask when it is the answer: %s', async (what) => {
    const many = Promise.all(Array.from({ length: 20 }, (_, n) => system.ask(double, { n })));
    const { code, message } = await rejection(system.ask(answerOddly, what));
    expect(code).toBe('NOT_SERIALISABLE');
    expect(message).toContain('answer');
    expect(await many).toHaveLength(20);
  });
});

describe('An ask whose handler fails', () => {
  it('rejects with HANDLER_FAILED and the message of what was thrown; the agent is started again', async () => {
    const before = await system.ask(lives, undefined);
    const { code, message } = await rejection(system.ask(fail, 'the moon is gone'));
    expect(code).toBe('HANDLER_FAILED');
    expect(message).toContain('the moon is gone');
    expect(await system.ask(lives, undefined)).toBe(before + 1);
    const row = await until('the supervisor knows', async () =>
      (await system.roster()).find(({ id, status }) => id === 'answers' && status === 'running'),
    );
    expect(row.lastError).toBe('the moon is gone');
  });

  it('rejects with REFUSED and its details when the handler declines; the agent lives on', async () => {
    const before = await system.ask(lives, undefined);
    const error = (await system.ask(decline, 'not today').catch((thrown: unknown) => thrown)) as OrreryError;
    expect(error).toMatchObject({ code: 'REFUSED', message: 'not today', details: { asked: 'not today' } });
    expect(await system.ask(lives, undefined)).toBe(before);
  });

  it('answers everybody else who asked meanwhile', async () => {
    const asks = Array.from({ length: 30 }, (_, n) =>
      n === 15 ? rejection(system.ask(fail, 'midway')) : system.ask(double, { n }),
    );
    const answers = await Promise.all(asks);
    expect(answers).toEqual(
      Array.from({ length: 30 }, (_, n) =>
        n === 15 ? expect.objectContaining({ code: 'HANDLER_FAILED' }) : 2 * n,
      ),
    );
  });
});

describe('An ask that is given up', () => {
  it('rejects with DEADLINE_EXCEEDED when its time is over, and the handler is told (F-04)', async () => {
    const { code } = await rejection(system.ask(wait, 'deadline', { timeoutMs: 3_000 }));
    expect(code).toBe('DEADLINE_EXCEEDED');
    const seen = await until('the handler hears of it', () => aborted('deadline'));
    expect(seen).toBe('deadline DEADLINE_EXCEEDED');
  });

  it('rejects with CANCELLED when its signal aborts, and the handler is told (F-04)', async () => {
    const controller = new AbortController();
    let hasBegun = false;
    const onProgress = (): void => {
      hasBegun = true;
    };
    const asked = rejection(system.ask(wait, 'signal', { signal: controller.signal, onProgress }));
    await until('the handler begins', () => hasBegun);
    controller.abort();
    expect((await asked).code).toBe('CANCELLED');
    expect(await until('the handler hears of it', () => aborted('signal'))).toBe('signal CANCELLED');
  });

  it('is not sent when its signal is aborted already', async () => {
    const { accepted } = await system.conservation();
    const { code } = await rejection(system.ask(wait, 'never', { signal: AbortSignal.abort() }));
    expect(code).toBe('CANCELLED');
    expect((await system.conservation()).accepted).toBe(accepted);
  });
});

describe('A listener that throws', () => {
  it('is a warning, once a listener: the ask, and those beside it, are answered', async () => {
    const warnings: string[] = [];
    const hear = ({ name, message }: Error): void => {
      if (name === 'OrreryWarning') warnings.push(message);
    };
    process.on('warning', hear);
    try {
      const leave = await system.inspect(() => {
        throw new Error('of the inspector');
      });
      const controller = new AbortController();
      const onProgress = (): void => {
        controller.abort();
        throw new Error('of the progress');
      };
      const waiting = rejection(system.ask(wait, 'listener', { onProgress, signal: controller.signal }));
      const others = Promise.all(Array.from({ length: 40 }, (_, n) => system.ask(double, { n })));
      expect((await waiting).code).toBe('CANCELLED');
      expect(await others).toHaveLength(40);
      await until('both are told', () => warnings.length === 2);
      expect(warnings.toSorted()).toEqual([
        'A listener failed: of the inspector',
        'A listener failed: of the progress',
      ]);
      leave();
      expect(await system.ask(double, { n: 1 })).toBe(2);
    } finally {
      process.off('warning', hear);
    }
  });
});

describe('Asks between agents', () => {
  it.each(['far', 'near'])('are answered across threads and within one (%s)', async (asking) => {
    const outcomes = await system.ask(
      { agent: asking, capability: askDoubles },
      { agent: 'answers', times: 60 },
    );
    expect(outcomes.map(({ value }) => value)).toEqual(Array.from({ length: 60 }, (_, n) => 2 * n));
  });

  it.each(['far', 'near'])('fail with the code of what went wrong (%s)', async (asking) => {
    const [outcome] = await system.ask(
      { agent: asking, capability: askDoubles },
      { agent: 'nobody', times: 1 },
    );
    expect(outcome).toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });
});

describe('A stopped system', () => {
  it('refuses asks, tells and streams with SYSTEM_STOPPED', async () => {
    const own = defineAgent({
      id: 'own',
      name: 'OWN',
      version: '1.0.0',
      description: 'Doubles',
      tier: 2,
    }).handle(double, ({ n }) => 2 * n);
    const stopped = await startSystem({ agents: [own], workers: 1 });
    expect(await stopped.ask(double, { n: 1 })).toBe(2);
    await stopped.stop();
    expect((await rejection(stopped.ask(double, { n: 1 }))).code).toBe('SYSTEM_STOPPED');
    expect(stopped.tell(double, { n: 1 })).toMatchObject({ delivered: false, errorCode: 'SYSTEM_STOPPED' });
    expect(await stopped.tellWhenRoom('own', 1)).toMatchObject({ errorCode: 'SYSTEM_STOPPED' });
    const read = async () => {
      for await (const _ of stopped.stream(double, { n: 1 }));
    };
    expect((await rejection(read())).code).toBe('SYSTEM_STOPPED');
  });
});
