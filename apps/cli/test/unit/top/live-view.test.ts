import { EventEmitter } from 'node:events';
import { plain } from '@orrery/ralph-loop';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../../test/fixtures/fake-clock.ts';
import { changedLines, LiveView } from '../../../top/live-view.ts';
import { TeamRecord } from '../../../top/team-record.ts';
import { ProcessTerminal, type Terminal, type TerminalListener } from '../../../top/terminal.ts';
import { stateOf, told } from '../../fixtures/told.ts';

class FakeTerminal implements Terminal {
  columns = 80;
  rows = 24;
  isBusy = false;
  isOpen = false;
  readonly paint = plain;
  readonly written: string[] = [];
  listener: TerminalListener | undefined;

  write(text: string): void {
    this.written.push(text);
  }

  open(listener: TerminalListener): void {
    this.isOpen = true;
    this.listener = listener;
  }

  close(): void {
    this.isOpen = false;
  }
}

function opened() {
  const clock = new FakeClock(0);
  const terminal = new FakeTerminal();
  const record: TeamRecord = new TeamRecord(() => view.change());
  const quits: string[] = [];
  const view: LiveView = new LiveView(record, { terminal, clock, onQuit: () => quits.push('quit') });
  view.open();
  return { clock, terminal, record, view, quits };
}

describe('a team on a terminal', () => {
  it('is drawn at most five times a second, and only where it has changed', () => {
    const { clock, terminal, record, view } = opened();
    record.state(stateOf(1_000, [{ id: 'mars', name: 'MARS' }]));
    clock.advance(200);
    expect(terminal.written.join('')).toContain('MARS');
    const before = terminal.written.length;
    for (let at = 0; at < 1_000; at++) {
      record.events([told('progress', 1_000 + at, { agentId: 'mars', fraction: at / 1_000 })]);
      clock.advance(1);
    }
    expect(terminal.written.length - before).toBeLessThanOrEqual(6);
    expect(terminal.written.at(-1)).not.toContain('AGENT');
    view.close();
    expect(terminal.isOpen).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it('goes on in time while the connection is up, although nothing is heard', () => {
    const { clock, terminal, record, view } = opened();
    record.state(stateOf(60_001, [{ id: 'mars' }]));
    record.linked({ kind: 'live' });
    clock.advance(30_500);
    expect(terminal.written.join('')).toContain('for 1 min 30 s');
    record.linked({ kind: 'lost', why: 'it is over', retryAtMs: 99_000 });
    clock.advance(30_000);
    expect(terminal.written.join('')).not.toContain('for 2 min');
    view.close();
  });

  it('is not drawn while the terminal has not taken what was drawn before', () => {
    const { clock, terminal, record, view } = opened();
    terminal.isBusy = true;
    const before = terminal.written.length;
    record.state(stateOf(1_000, [{ id: 'mars' }]));
    clock.advance(5_000);
    expect(terminal.written).toHaveLength(before);
    terminal.isBusy = false;
    clock.advance(1_000);
    expect(terminal.written.join('')).toContain('mars');
    view.close();
  });

  it('follows the keys, and stands still while it is paused', () => {
    const { clock, terminal, record, view, quits } = opened();
    record.state(stateOf(1_000, [{ id: 'mars', name: 'MARS' }]));
    terminal.listener?.keys('p');
    record.state(stateOf(2_000, [{ id: 'venus', name: 'VENUS' }]));
    clock.advance(1_000);
    expect(terminal.written.join('')).not.toContain('VENUS');
    terminal.listener?.keys('p');
    expect(terminal.written.join('')).toContain('VENUS');
    terminal.listener?.keys('\r');
    expect(terminal.written.at(-1)).toContain('VENUS (venus)');
    terminal.listener?.keys('\x1b');
    clock.advance(50);
    expect(terminal.written.at(-1)).toContain('AGENT');
    terminal.listener?.keys('q');
    terminal.listener?.ended();
    expect(quits).toEqual(['quit', 'quit']);
    view.close();
  });

  it('is drawn anew as a whole when the size changes', () => {
    const { terminal, record, view } = opened();
    record.state(stateOf(1_000, [{ id: 'mars' }]));
    terminal.columns = 60;
    terminal.listener?.resized();
    expect(terminal.written.at(-2)).toBe('\x1b[2J');
    expect(terminal.written.at(-1)).toContain('AGENT');
    view.close();
  });

  it('writes lines that differ, each at its place', () => {
    expect(changedLines(['a', 'b', 'c'], ['a', 'x'])).toBe('\x1b[2;1Hx\x1b[0m\x1b[K\x1b[3;1H\x1b[0J');
    expect(changedLines(['a'], ['a'])).toBe('');
  });
});

describe('the terminal of the process', () => {
  function taken() {
    const [input, output, process] = [new EventEmitter(), new EventEmitter(), new EventEmitter()];
    const done: string[] = [];
    Object.assign(input, {
      setRawMode: (isRaw: boolean) => done.push(`raw ${isRaw}`),
      setEncoding: () => undefined,
      resume: () => undefined,
      pause: () => done.push('pause'),
    });
    Object.assign(output, {
      write: (text: string) => done.push(text),
      columns: 0,
      rows: 0,
      writableNeedDrain: false,
    });
    const heard: string[] = [];
    const terminal = new ProcessTerminal({ input, output, process, paint: plain } as never);
    terminal.open({
      keys: (text) => heard.push(text),
      resized: () => heard.push('resized'),
      ended: () => heard.push('ended'),
    });
    return { input, output, process, done, heard, terminal };
  }
  const GIVEN_BACK = ['\x1b[?7h\x1b[?25h\x1b[?1049l', 'raw false', 'pause'];

  it.each(['exit', 'uncaughtExceptionMonitor'])('is given back as it was on %s', (event) => {
    const { process, done, terminal } = taken();
    expect(done).toEqual(['raw true', '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J']);
    process.emit(event);
    expect(done.slice(2)).toEqual(GIVEN_BACK);
    terminal.close();
    expect(done.slice(2)).toEqual(GIVEN_BACK);
    expect(process.eventNames()).toEqual([]);
  });

  it('tells of keys, sizes, the end, and of being stopped and gone on with', () => {
    const { input, output, process, done, heard, terminal } = taken();
    input.emit('data', 'j');
    output.emit('resize');
    process.emit('SIGCONT');
    input.emit('end');
    expect(heard).toEqual(['j', 'resized', 'resized', 'ended']);
    expect(done.slice(2)).toEqual(done.slice(0, 2));
    expect([terminal.columns, terminal.rows]).toEqual([80, 24]);
    terminal.close();
    expect([...input.eventNames(), ...output.eventNames()]).toEqual([]);
  });
});
