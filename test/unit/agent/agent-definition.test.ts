import { AgentDefinition, capability, defineAgent } from 'orrery';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PLANETS } from '../../../actors/planets/index.ts';

const identity = { id: 'mars', name: 'MARS', version: '1.0.0', description: 'Builds', tier: 2 } as const;
const build = capability({ id: 'build', description: 'Builds', input: z.string(), output: z.string() });
const mars = () => defineAgent(identity);

/** What `run` throws says this, and nothing else is in its message but what is expected. */
const refuses = (run: () => unknown, says: string): void =>
  expect(run).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining(`${says}, expected `),
    }),
  );

describe('An agent is refused where it is defined, naming field and value', () => {
  it.each([
    ['id', ''],
    ['id', 'a b'],
    ['id', 'a\u0000b'],
    ['id', '*'],
    ['id', 'system/host'],
    ['id', 5],
    ['id', undefined],
    ['name', undefined],
    ['name', ''],
    ['version', ''],
    ['description', 7],
    ['tier', 9],
    ['tier', '2'],
    ['tier', undefined],
    ['sandboxId', ''],
    ['protocols', 'x'],
    ['mailboxCapacity', 0],
    ['mailboxCapacity', -1],
    ['mailboxCapacity', Number.NaN],
    ['mailboxCapacity', '10'],
    ['handlingTimeoutMs', Number.NaN],
    ['handlingTimeoutMs', -5],
    ['handlingTimeoutMs', '1s'],
    ['startTimeoutMs', Number.POSITIVE_INFINITY],
    ['stopTimeoutMs', 2 ** 31],
    ['restart', 'always'],
    ['delivery', 'twice'],
    ['lazy', 'yes'],
    ['mailBox', 10],
  ])('%s: %j', (field, value) => {
    const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
    refuses(() => defineAgent({ ...identity, [field]: value } as never), `agent.${field} is ${shown}`);
    refuses(
      () => new AgentDefinition({ ...identity, [field]: value } as never),
      `agent.${field} is ${shown}`,
    );
  });

  it('an id of 10,000 characters, which is not repeated whole', () => {
    const run = () => defineAgent({ ...identity, id: 'a'.repeat(10_000) });
    refuses(run, `agent.id is "${'a'.repeat(119)}…"`);
  });

  it.each([
    ['nothing', undefined, 'agent is undefined'],
    ['null', null, 'agent is null'],
    ['a text', 'mars', 'agent is "mars"'],
  ])('%s', (_, options, says) => refuses(() => defineAgent(options as never), says));

  it('a value that has no text', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    refuses(() => defineAgent({ ...identity, tier: circle } as never), 'agent.tier is an object');
    refuses(() => defineAgent({ ...identity, tier: 2n } as never), 'agent.tier is 2');
  });
});

describe('A handler is refused where it is given', () => {
  it.each<[string, () => unknown, string]>([
    ['of no message type', () => mars().on('bogus' as never, () => 1), 'on is "bogus"'],
    ['no function: on', () => mars().on('request', 'x' as never), 'the handler of request is "x"'],
    [
      'no function: handle',
      () => mars().handle(build, undefined as never),
      'the handler of build is undefined',
    ],
    ['no function: stream', () => mars().handleStream(build, {} as never), 'the handler of build is {}'],
    [
      'a stream that is one message',
      () => mars().handleStream({ ...build, answers: 'message' }, async function* () {}),
      'capability "build".answers is "message"',
    ],
    ['no capability', () => mars().handle('build' as never, () => ''), 'capability is "build"'],
    ['no function: onStart', () => mars().onStart(5 as never), 'onStart is 5'],
    ['no function: onStop', () => mars().onStop(null as never), 'onStop is null'],
    ['no logic', () => mars().logic({} as never), 'logic.transition is undefined'],
  ])('%s', (_, run, says) => refuses(run, says));
});

describe('An agent may be', () => {
  it.each(Object.values(PLANETS))('$id', (planet) => {
    expect(defineAgent(planet).card(0)).toMatchObject(planet);
  });

  it.each(['a', 'mars-2', 'team/mars', 'mars@node.example', 'Ångström', '火星', 'a'.repeat(256)])(
    'called %s',
    (id) => {
      expect(defineAgent({ ...identity, id }).options.id).toBe(id);
    },
  );
});
