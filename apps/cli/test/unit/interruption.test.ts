import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Interruption } from '../../interruption.ts';
import { FakeClock } from '../../../../test/fixtures/fake-clock.ts';

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];

  exit(code: number): never {
    this.exits.push(code);
    return undefined as never;
  }
}

const set = () => {
  const process = new FakeProcess();
  const clock = new FakeClock();
  const interruption = new Interruption({ clock, process: process as unknown as NodeJS.Process });
  return { process, clock, interruption };
};

describe('an interruption', () => {
  it('aborts at the first signal and lets the run end by itself', () => {
    const { process, clock, interruption } = set();
    process.emit('SIGINT', 'SIGINT');
    expect(interruption.signal.aborted).toBe(true);
    expect(interruption.signalNumber).toBe(2);
    clock.advance(500);
    interruption[Symbol.dispose]();
    clock.advance(10_000);
    expect(process.exits).toEqual([]);
    expect(process.eventNames()).toEqual([]);
  });

  it('ends a run that does not end by itself within a second', () => {
    const { process, clock } = set();
    process.emit('SIGTERM', 'SIGTERM');
    clock.advance(999);
    expect(process.exits).toEqual([143]);
  });

  it('ends at once at the second signal', () => {
    const { process, clock } = set();
    process.emit('SIGINT', 'SIGINT');
    clock.advance(300);
    process.emit('SIGINT', 'SIGINT');
    expect(process.exits).toEqual([130]);
  });

  it('comes of a terminal that is closed, and waits for the end however often that is told', () => {
    const { process, clock, interruption } = set();
    process.emit('SIGHUP', 'SIGHUP');
    expect([interruption.signal.aborted, interruption.exitCode]).toEqual([true, 129]);
    clock.advance(500);
    process.emit('SIGHUP', 'SIGHUP');
    expect(process.exits).toEqual([]);
    clock.advance(500);
    expect(process.exits).toEqual([129]);
  });

  it('may come from elsewhere, as the first Ctrl-C, and only once', () => {
    const { process, clock, interruption } = set();
    interruption.interrupt();
    expect([interruption.signal.aborted, interruption.exitCode]).toEqual([true, 130]);
    clock.advance(500);
    interruption.interrupt();
    expect(process.exits).toEqual([]);
    clock.advance(500);
    expect(process.exits).toEqual([130]);
  });

  it('takes a signal that npm passes on beside the terminal for the same keystroke', () => {
    const { process, clock } = set();
    process.emit('SIGINT', 'SIGINT');
    clock.advance(5);
    process.emit('SIGINT', 'SIGINT');
    expect(process.exits).toEqual([]);
  });
});
