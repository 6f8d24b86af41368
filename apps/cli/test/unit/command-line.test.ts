import { describe, expect, it } from 'vitest';
import { readCommandLine } from '../../command-line.ts';
import { commandHelp, help } from '../../help.ts';
import { readSeverity, readWorkers } from '../../option-values.ts';

const read = (line: string) => readCommandLine(line.split(' ').filter((word) => word !== ''));

describe('a command line', () => {
  it.each([
    ['--help', { kind: 'help' }],
    ['-h', { kind: 'help' }],
    ['run --help', { kind: 'help', command: 'run' }],
    ['agents -h', { kind: 'help', command: 'agents' }],
    ['--version', { kind: 'version' }],
    ['run', { kind: 'command', command: 'run', options: {}, positionals: [] }],
    [
      'run m.json --repo=/r --json out.json --fail-on high --record t.jsonl --workers 3',
      {
        kind: 'command',
        command: 'run',
        options: { repo: '/r', json: 'out.json', 'fail-on': 'high', record: 't.jsonl', workers: '3' },
        positionals: ['m.json'],
      },
    ],
    ['run -- --odd.json', { kind: 'command', command: 'run', options: {}, positionals: ['--odd.json'] }],
    [
      'run --json=--odd.json',
      { kind: 'command', command: 'run', options: { json: '--odd.json' }, positionals: [] },
    ],
    ['agents --json', { kind: 'command', command: 'agents', options: { json: true }, positionals: [] }],
  ])('"%s" is understood', (line, expected) => {
    expect(read(line)).toEqual(expected);
  });

  it.each([
    [
      '',
      'No command; expected run, check, ps, stop, pause, continue, skip, approve, resume, init, doctor, up, peers, mcp, key, simulate, journal, inspect, top, stately or agents',
    ],
    ['rnu', 'Unknown command "rnu"; did you mean "run"?'],
    [
      'deploy',
      'Unknown command "deploy"; expected run, check, ps, stop, pause, continue, skip, approve, resume, init, doctor, up, peers, mcp, key, simulate, journal, inspect, top, stately or agents',
    ],
    [
      'constructor',
      'Unknown command "constructor"; expected run, check, ps, stop, pause, continue, skip, approve, resume, init, doctor, up, peers, mcp, key, simulate, journal, inspect, top, stately or agents',
    ],
    [
      '--repo x',
      'Unknown option "--repo" before the command; expected run, check, ps, stop, pause, continue, skip, approve, resume, init, doctor, up, peers, mcp, key, simulate, journal, inspect, top, stately or agents',
    ],
    ['run --rep /x', 'Unknown option "--rep" for "run"; did you mean "--repo"?'],
    ['run -x', 'Unknown option "-x" for "run"'],
    ['run --toString', 'Unknown option "--toString" for "run"'],
    ['agents --repo x', 'Unknown option "--repo" for "agents"'],
    ['run --json', 'Option "--json" needs a value: FILE'],
    ['run --json=', 'Option "--json" needs a value: FILE'],
    [
      'run --json --record x',
      'Option "--json" needs a value, found "--record"; write "--json=--record" if you mean it',
    ],
    ['run --repo a --repo b', 'Option "--repo" is given twice'],
    ['run a.json b.json', 'Unexpected argument "b.json" for "run"'],
    ['agents x', 'Unexpected argument "x" for "agents"'],
    ['agents --json=yes', 'Option "--json" takes no value, found "yes"'],
  ])('"%s" is refused', (line, message) => {
    expect(() => read(line)).toThrow(expect.objectContaining({ code: 'USAGE', message }));
  });
});

describe('option values', () => {
  it.each(['-n-OYizJaQhJ-hSq7u0tTnwP5iXQzHEc2OC05-IQjuE', '--OYizJaQhJ_hSq7u0tTnwP5iXQzHEc2OC05-IQjuE'])(
    'may begin with a dash, as keys do: %s',
    (key) => {
      expect(read(`peers --revoke ${key}`)).toMatchObject({ options: { revoke: key } });
    },
  );

  it.each(['0', '1.5', '-1', 'many', '1e9', '1e1', '0x4', ' '])('--workers %s is refused', (value) => {
    expect(() => readWorkers(value)).toThrow(
      `Option "--workers" is "${value}", expected a whole number from 1 to 64`,
    );
  });

  it('--workers takes a number', () => {
    expect(readWorkers('4')).toBe(4);
    expect(readWorkers(undefined)).toBeUndefined();
  });

  it('--fail-on takes a severity and says which there are', () => {
    expect(readSeverity('high')).toBe('high');
    expect(() => readSeverity('hihg')).toThrow(
      'Option "--fail-on" is "hihg", expected one of critical, high, medium, low, info; did you mean "high"?',
    );
  });
});

describe('help', () => {
  it('names every command and, for a command, every option', () => {
    expect(help()).toContain('orrery run [MISSION]');
    expect(help()).toContain('orrery agents');
    for (const option of [
      '--repo PATH',
      '--json FILE',
      '--fail-on SEVERITY',
      '--record FILE',
      '--workers N',
      '--help',
    ]) {
      expect(commandHelp('run')).toContain(option);
    }
  });

  it('says where the audit comes from where it is not installed', () => {
    const where = 'the audit of repositories comes with the repository of Orrery, not with the package';
    for (const text of [help(false), commandHelp('run', false)]) expect(text).toContain(where);
    for (const text of [help(true), commandHelp('run', true)])
      expect(text).toContain('default: an audit of the repository');
    for (const command of ['up', 'agents', 'doctor', 'mcp'] as const) {
      expect(commandHelp(command, true)).toContain('else the planets');
      expect(commandHelp(command, false)).toContain('else SUN and MERCURY');
    }
  });
});
