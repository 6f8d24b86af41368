import { describe, expect, it } from 'vitest';
import { and, type AnyStateMachine, assign, createMachine, not, or, raise, setup, stateIn } from 'xstate';
import { drawMachine } from '../../../runtime/machine/draw-machine.ts';
import { mermaidFaults } from '../../fixtures/mermaid-faults.ts';

/** The lines of a drawing, which Mermaid takes. */
function linesOf(machine: AnyStateMachine): string[] {
  const drawing = drawMachine(machine);
  expect(mermaidFaults(drawing)).toEqual([]);
  return drawing
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.trim());
}

const machineOf = (config: object): AnyStateMachine => createMachine(config as never);

describe('the drawing of a machine', () => {
  it('shows where it begins and ends, and each transition with guard and actions', () => {
    const door = setup({
      guards: { isLocked: () => true },
      actions: { ring: () => undefined, light: () => undefined },
    }).createMachine({
      id: 'door',
      initial: 'shut',
      states: {
        shut: {
          tags: ['still', 'quiet'],
          entry: 'light',
          on: {
            'door.pushed': [
              { guard: 'isLocked', actions: 'ring' },
              { target: 'open', actions: ['ring', 'light'] },
            ],
            'door.knocked': {},
          },
        },
        open: { exit: 'light', on: { 'door.pulled': 'shut', 'door.lost': 'gone' } },
        gone: { type: 'final' },
      },
    });
    expect(drawMachine(door)).toBe(`stateDiagram-v2
  [*] --> shut
  state "shut" as shut
  shut : tags quiet, still
  shut : entry / light
  shut : door.pushed [isLocked] / ring
  shut : ignores door.knocked
  state "open" as open
  open : exit / light
  state "gone" as gone
  gone --> [*]
  shut --> open : door.pushed / ring, light
  open --> shut : door.pulled
  open --> gone : door.lost
`);
  });

  it('runs nothing: neither its context nor guards, actions, actors or delays', () => {
    const never = (): never => {
      throw new Error('it was run');
    };
    const machine = setup({
      actions: { act: never },
      guards: { judge: never },
      delays: { late: never },
      actors: { work: { transition: never, getInitialSnapshot: never } as never },
    }).createMachine({
      context: never,
      initial: 'a',
      entry: 'act',
      states: {
        a: {
          entry: 'act',
          invoke: { src: 'work', input: never },
          after: { late: { guard: 'judge', target: 'b' } },
          always: { guard: 'judge', target: 'b' },
        },
        b: {},
      },
    });
    expect(linesOf(machine)).toEqual(
      expect.arrayContaining([
        'a : invokes work',
        'a --> b : after late [judge]',
        'a --> b : always [judge]',
      ]),
    );
  });

  it('shows delays, and what becomes of what is invoked, in words', () => {
    const lines = linesOf(
      machineOf({
        initial: 'a',
        states: {
          a: {
            after: { 1500: 'b' },
            invoke: {
              src: 'work',
              onDone: 'b',
              onError: { target: 'b', guard: 'isBad' },
              onSnapshot: { actions: 'note' },
            },
            on: { '*': 'b' },
          },
          b: { entry: [raise({ type: 'again' }), assign({})], on: { again: 'a' } },
        },
      }),
    );
    expect(lines).toEqual([
      '[*] --> a',
      'state "a" as a',
      'a : invokes work',
      'a : work changed / note',
      'state "b" as b',
      'b : entry / raise, assign',
      'a --> b : any other event',
      'a --> b : work done',
      'a --> b : work failed [isBad]',
      'a --> b : after 1500 ms',
      'b --> a : again',
    ]);
  });

  it('shows states in states as frames, and what a frame does itself in a box inside', () => {
    const lines = linesOf(
      machineOf({
        id: 'whole',
        initial: 'on',
        on: { reset: '.on', halt: '.off' },
        states: {
          on: {
            initial: 'slow',
            invoke: { src: 'hum' },
            onDone: 'off',
            on: { flick: 'off', faster: '.fast', again: { target: 'on', reenter: true } },
            states: { slow: { on: { up: 'fast', leave: '#whole.off' } }, fast: { type: 'final' } },
          },
          off: { on: { flick: 'on' } },
        },
      }),
    );
    expect(lines).toEqual([
      '[*] --> on_slow',
      'state "on" as on {',
      '[*] --> on_slow',
      'state "slow" as on_slow',
      'state "fast" as on_fast',
      'on_fast --> [*]',
      'state "any state of on" as on_any',
      'on_any : invokes hum',
      'on_slow --> on_fast : up',
      '}',
      'state "off" as off',
      'state "any state" as whole_any',
      'on_any --> off : flick',
      'on_any --> on_fast : faster',
      'on_any --> on_slow : again',
      'on_any --> off : all done',
      'on_slow --> off : leave',
      'whole_any --> on_slow : reset',
      'whole_any --> off : halt',
      'off --> on_slow : flick',
    ]);
  });

  it('shows parallel states side by side, and comes into each of them', () => {
    const region = { initial: 'no', states: { no: { on: { go: 'yes' } }, yes: { type: 'final' } } };
    const lines = linesOf(
      machineOf({
        initial: 'idle',
        states: {
          idle: { on: { start: 'both' } },
          both: { type: 'parallel', states: { left: region, right: region }, onDone: 'idle' },
        },
      }),
    );
    expect(lines.filter((line) => line === '--')).toHaveLength(2);
    expect(lines).toEqual(
      expect.arrayContaining([
        'idle --> both_left_no : start',
        'idle --> both_right_no : start',
        'both_any --> idle : all done',
      ]),
    );
  });

  it('shows history, and where one comes to without any', () => {
    const lines = linesOf(
      machineOf({
        initial: 'deck',
        states: {
          deck: {
            initial: 'side',
            states: {
              side: {},
              other: {},
              last: { type: 'history' },
              deepest: { type: 'history', history: 'deep', target: 'other' },
            },
          },
          off: { on: { play: 'deck.last' } },
        },
      }),
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        'state "last (shallow history)" as deck_last',
        'state "deepest (deep history)" as deck_deepest',
        'deck_last --> deck_side : without history',
        'deck_deepest --> deck_other : without history',
        'off --> deck_last : play',
      ]),
    );
  });

  it('names guards that are made of others, and says of what has no name that it has none', () => {
    const unnamed = () => true;
    const lines = linesOf(
      machineOf({
        initial: 'a',
        states: {
          a: {
            on: {
              made: { target: 'b', guard: and(['isOne', or([not('isTwo'), stateIn('a')])]) },
              inline: { target: 'b', guard: unnamed, actions: unnamed },
            },
          },
          b: {},
        },
      }),
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        'a --> b : made [(isOne and (not isTwo or in a))]',
        'a --> b : inline [(unnamed)] / (unnamed)',
      ]),
    );
  });

  it('keeps names apart that Mermaid could not tell, and escapes what means something to it', () => {
    const lines = linesOf(
      machineOf({
        initial: 'end',
        states: {
          end: { on: { 'a:b;c"{}<br>%%': 'x-y' } },
          'x-y': { on: { next: 'x y' } },
          'x y': { on: { next: 'x_y' } },
          x_y: { on: { next: 'Grüße' } },
          Grüße: { on: { next: 'state' } },
          state: { on: { next: '名"' } },
          '名"': {},
        },
      }),
    );
    expect(lines).toEqual(
      expect.arrayContaining([
        '[*] --> end_',
        'end_ --> x_y : a#58;b#59;c#34;#123;#125;#60;br#62;#37;#37;',
        'x_y --> x_y_2 : next',
        'x_y_2 --> x_y_3 : next',
        'state "Grüße" as Gr__e',
        'state "state" as state_',
        'state "名#34;" as __',
      ]),
    );
  });

  it('shows a machine without states as one', () => {
    expect(linesOf(machineOf({ id: 'count', on: { up: { actions: 'add' } } }))).toEqual([
      'state "count" as count',
      'count : up / add',
    ]);
  });
});

describe('the check of drawings', () => {
  it.each([
    ['stateDiagram\n', 'begins with stateDiagram'],
    ['stateDiagram-v2\n  a --> b : x\n', 'has an arrow at a, which is none'],
    ['stateDiagram-v2\n  state "a" as a {\n', 'leaves a open'],
    ['stateDiagram-v2\n  state "a" as a\n  a --> a : b:c\n', 'is not understood: a --> a : b:c'],
    ['stateDiagram-v2\n  state "a" as a\n  state "b" as a\n', 'declares a twice'],
    ['stateDiagram-v2\n  state "end" as end\n', 'calls a state end'],
    [
      'stateDiagram-v2\n  state "a" as a\n  state "b" as b {\n    state "c" as c\n    c --> a : x\n  }\n',
      'has a in b',
    ],
  ])('finds what is wrong in %j', (text, fault) => {
    expect(mermaidFaults(text)).toContain(fault);
  });
});
