import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reasonFor, type Speaker } from '../../fixtures/speaker.ts';
import { systemSeams } from '../../../runtime/protocol/system-seams.ts';
import { createV01 } from '../../../gateway/a2a/wire/v01/dialect.ts';
import { V03, V03_REST } from '../../../gateway/a2a/wire/v03/dialect.ts';
import { restBindingOf, V1 } from '../../../gateway/a2a/wire/v1/dialect.ts';
import { xprPart } from '../../../gateway/xpr/server/xpr-part.ts';
import { startGrpc, type TestGrpc } from '../../fixtures/a2a-grpc.ts';
import { startA2AServer, type TestServer, type TestServerOptions } from '../../fixtures/a2a-server.ts';
import { grpcSpeaker } from '../../fixtures/grpc-speaker.ts';
import { aeternaSpeaker, rest03Speaker, rest1Speaker } from '../../fixtures/rest-speakers.ts';
import { rpc01Speaker, rpc03Speaker, rpc1Speaker, xprSpeaker } from '../../fixtures/rpc-speakers.ts';

/** A server of everything that there is of A2A, and somebody for each way to speak to it. */
interface SpokenServer extends AsyncDisposable {
  readonly server: TestServer;
  readonly grpc: TestGrpc;
  speakers(by: string): Promise<readonly Speaker[]>;
}

/** `patienceMs`: how long those wait for a task who are answered when it is over, or after a while. */
async function startSpokenServer(patienceMs = 150, options: TestServerOptions = {}): Promise<SpokenServer> {
  const { newId } = systemSeams();
  const v01 = createV01({ newId, waitMs: patienceMs });
  const server = await startA2AServer({
    dialects: [V1, V03, v01.rpc],
    rest: [V03_REST, v01.rest, restBindingOf(V1)],
    beside: (service) => [xprPart({ service, answerWithinMs: patienceMs })],
    ...options,
  });
  const grpc = await startGrpc(server);
  return {
    server,
    grpc,
    speakers: async (by) => [
      rpc1Speaker(server, by),
      rest1Speaker(server, by),
      await grpcSpeaker(grpc, by),
      rpc03Speaker(server, by),
      rest03Speaker(server, by),
      rpc01Speaker(server, by),
      aeternaSpeaker(server, by),
      xprSpeaker(server, by),
    ],
    async [Symbol.asyncDispose]() {
      await grpc[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

let spoken: SpokenServer;
let speakers: readonly Speaker[];
let strangers: readonly Speaker[];

beforeAll(async () => {
  spoken = await startSpokenServer();
  speakers = await spoken.speakers('alice@acme');
  strangers = await spoken.speakers('bob@acme');
});
afterAll(() => spoken[Symbol.asyncDispose]());

/** Has each do it, and says what each came to, by name. */
async function each<Result>(
  among: readonly Speaker[],
  act: (speaker: Speaker) => Promise<Result>,
): Promise<Record<string, Result>> {
  const results = await Promise.all(among.map(async (one) => [one.name, await act(one)] as const));
  return Object.fromEntries(results);
}

/** The same of all; of those with few states something else, where that is said. */
const all = <Result>(among: readonly Speaker[], expected: Result, ofFew: Result = expected) =>
  Object.fromEntries(among.map(({ name, hasFewStates }) => [name, hasFewStates ? ofFew : expected]));

const OF_SEED_3: Readonly<Record<string, string>> = {
  TASK_NOT_FOUND: 'NOT_FOUND',
  TASK_NOT_CANCELABLE: 'INVALID_REQUEST',
  UNSUPPORTED_OPERATION: 'INVALID_REQUEST',
  INVALID_PARAMS: 'INVALID_REQUEST',
};
const allFail = (reason: string) => ({ ...all(speakers, reason), "seed 3's REST": OF_SEED_3[reason] });

describe('all dialects and bindings of A2A', () => {
  it('send a message, and show what was made of it', async () => {
    const seen = await each(speakers, async (one) => {
      const { state, artifacts, history, contextId } = await one.send('echo hello');
      return { state, artifacts, history, hasContext: contextId !== undefined };
    });
    const expected = {
      state: 'completed',
      artifacts: ['hello'],
      history: ['user: echo hello'],
      hasContext: true,
    };
    expect(seen).toEqual(all(speakers, expected));
  });

  it('are asked a question, answer it in the same task, and show the whole conversation (X-51, A-08, A-09)', async () => {
    const seen = await each(speakers, async (one) => {
      const asked = await one.send('ask');
      const answered = await one.send('echo that one', { taskId: asked.id });
      const got = await one.get(asked.id);
      return {
        asked: [asked.state, asked.said],
        isSame: [answered, got].every(
          ({ id, contextId }) => id === asked.id && contextId === asked.contextId,
        ),
        got: [got.state, got.artifacts, got.history],
      };
    });
    expect(seen).toEqual(
      all(speakers, {
        asked: ['input-required', 'Which one?'],
        isSame: true,
        got: ['completed', ['that one'], ['user: ask', 'agent: Which one?', 'user: echo that one']],
      }),
    );
  });

  it('show each state, in the nearest where a dialect has not got it (C-11)', async () => {
    const seen = await each(speakers, async (one) => {
      const tasks = await Promise.all(['login', 'reject', 'crash'].map((text) => one.send(text)));
      return tasks.map(({ state }) => state);
    });
    expect(seen).toEqual(
      all(speakers, ['auth-required', 'rejected', 'failed'], ['input-required', 'failed', 'failed']),
    );
  });

  it('see a task work, cancel it, and cannot cancel it again (X-27, X-40)', async () => {
    const seen = await each(speakers, async (one) => {
      const { id } = await one.send('hold', { atOnce: true });
      const states = [(await one.get(id)).state, (await one.cancel(id)).state, (await one.get(id)).state];
      return [
        ...states.map((state) => (state === 'submitted' ? 'working' : state)),
        await reasonFor(one.cancel(id)),
      ];
    });
    const canceled = ['working', 'canceled', 'canceled'];
    expect(seen).toEqual({
      ...all(speakers, [...canceled, 'TASK_NOT_CANCELABLE']),
      "seed 3's REST": [...canceled, 'INVALID_REQUEST'],
    });
  });

  it('are answered that it works when a task takes longer than they wait, and poll for its end (A-10, A-11)', async () => {
    const few = speakers.filter(({ hasFewStates }) => hasFewStates);
    const seen = await each(few, async (one) => {
      const { id, state } = await one.send('hold', { atOnce: true });
      const { opening } = await begunAs(id);
      await spoken.server.workshop.release(opening.id);
      let last = await one.get(id);
      while (last.state === 'working') last = await one.get(id);
      return [state === 'submitted' ? 'working' : state, last.state, last.artifacts];
    });
    expect(seen).toEqual(all(few, ['working', 'completed', ['held']]));
  });

  it('stream what is made, chunk by chunk and in order', async () => {
    const streaming = speakers.filter(({ stream }) => stream !== undefined);
    const seen = await each(streaming, async (one) => {
      const streamed = await one.stream?.('chunks 30');
      const { state, artifacts } = await one.get(streamed?.id ?? '');
      return {
        made: streamed?.artifacts,
        said: streamed?.said,
        last: streamed?.states.at(-1),
        state,
        artifacts,
      };
    });
    const text = [...Array(30).keys()].join('');
    const expected = {
      made: [text],
      said: ['On it'],
      last: 'completed',
      state: 'completed',
      artifacts: [text],
    };
    expect(seen).toEqual(all(streaming, expected));
  });

  it('stream up to a question, and on from its answer', async () => {
    const streaming = speakers.filter(({ stream }) => stream !== undefined);
    const seen = await each(streaming, async (one) => {
      const asked = await one.stream?.('ask');
      const answered = await one.stream?.('echo it', asked?.id);
      return [
        asked?.states.at(-1),
        asked?.said,
        answered?.states.at(-1),
        answered?.artifacts,
        asked?.id === answered?.id,
      ];
    });
    expect(seen).toEqual(all(streaming, ['input-required', ['Which one?'], 'completed', ['it'], true]));
  });

  it('subscribe to one task together, and all are told the same in the same order', async () => {
    const subscribing = speakers.filter(({ subscribe }) => subscribe !== undefined);
    const text = [...Array(25).keys()].join('');
    for (const maker of speakers) {
      const { id } = await maker.send('ask');
      const streams = await Promise.all(subscribing.map((one) => one.subscribe?.(id)));
      await maker.send('chunks 25', { taskId: id });
      const ends = await Promise.all(streams.map((stream) => stream?.end));
      const told = ends.map((end) => [end?.states, end?.said, end?.artifacts]);
      const expected = [['input-required', 'working', 'completed'], ['Which one?', 'On it'], [text]];
      expect(told, maker.name).toEqual(subscribing.map(() => expected));
    }
  });

  it('list the tasks of a conversation, whoever began them', async () => {
    const listing = speakers.filter(({ list }) => list !== undefined);
    for (const maker of speakers) {
      const { contextId } = await maker.send('echo listed');
      const lists = await each(listing, async (one) => (await one.list?.(contextId))?.length);
      expect(lists).toEqual(all(listing, 1));
    }
  });

  it('read, and go on with, each other’s tasks (C-10)', async () => {
    for (const maker of speakers) {
      const others = await each(speakers, async (other) => {
        const asked = await maker.send('ask');
        const read = await other.get(asked.id);
        const answered = await other.send(`echo by ${other.name}`, { taskId: asked.id });
        const back = await maker.get(asked.id);
        return [read.state, read.said, answered.state, back.state, back.artifacts, back.history.length];
      });
      expect(others, maker.name).toEqual(
        Object.fromEntries(
          speakers.map(({ name }) => [
            name,
            ['input-required', 'Which one?', 'completed', 'completed', [`by ${name}`], 3],
          ]),
        ),
      );
    }
  });

  it("cannot see, go on with or cancel somebody else's tasks (A-05, X-39)", async () => {
    for (const maker of speakers) {
      const { id } = await maker.send('ask');
      expect(await each(strangers, (one) => reasonFor(one.get(id)))).toEqual(allFail('TASK_NOT_FOUND'));
      expect(await each(strangers, (one) => reasonFor(one.cancel(id)))).toEqual(allFail('TASK_NOT_FOUND'));
      expect((await maker.get(id)).state).toBe('input-required');
    }
  });

  it('are refused alike what cannot be', async () => {
    const done = await each(speakers, async (one) => (await one.send('echo done')).id);
    const more = await each(speakers, (one) => reasonFor(one.send('more', { taskId: done[one.name] })));
    const unknown = await each(speakers, (one) => reasonFor(one.get('nobody-has-this')));
    const empty = await each(speakers, (one) => reasonFor(one.send('x', { parts: [] })));
    expect(unknown).toEqual(allFail('TASK_NOT_FOUND'));
    expect(empty).toEqual(allFail('INVALID_PARAMS'));
    expect(more).toEqual(allFail('UNSUPPORTED_OPERATION'));
  });

  it('are refused what is nested so deeply that nobody could read it', async () => {
    const overJson = speakers.filter(({ name }) => name !== '1.0 over gRPC');
    for (const depth of [101, 5_000, 100_000]) {
      const data = JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown;
      const parts = [{ kind: 'data', data }];
      const reasons = await each(overJson, (one) => reasonFor(one.send('x', { parts })));
      expect(reasons).toEqual(all(overJson, 'INVALID_REQUEST'));
    }
    expect(spoken.server.faults).toEqual([]);
  });

  it('take a part by any of the three tags (C-03)', async () => {
    const tagged = [{ text: 'echo ' }, { kind: 'text', text: 'a' }, { type: 'text', text: 'b' }];
    const overJson = speakers.filter(({ name }) => name !== '1.0 over gRPC');
    const seen = await each(overJson, async (one) => (await one.send('', { parts: tagged })).artifacts);
    expect(seen).toEqual(all(overJson, ['ab']));
  });

  it('tell an agent nothing that a request says in the name of a binding (X-16, X-32)', async () => {
    const facts = { 'xpr:callerAccount': 'mallory', 'xpr:claimedAccount': 'mallory', other: 1 };
    const text = 'echo who I am';
    const seen = await each(speakers, async (one) => (await one.send(text, { facts })).state);
    expect(seen).toEqual(all(speakers, 'completed'));
    const turns = spoken.server.workshop.turns.filter(({ message: { parts } }) =>
      parts.some((part) => 'text' in part && part.text === text),
    );
    const told = turns.map(({ message, opening }) => [message.metadata, opening.metadata]);
    expect(told).toEqual(speakers.map(() => [{ other: 1 }, { other: 1 }]));
  });
});

/** The turn that works at the task that somebody calls `id`. */
async function begunAs(id: string) {
  const { workshop } = spoken.server;
  for (let begun = 1; ; begun++) {
    await workshop.whenBegun(begun);
    const turn = workshop.turns[begun - 1];
    if (turn !== undefined && (turn.opening.id === id || turn.opening.id.startsWith(`${id}~`))) return turn;
  }
}
