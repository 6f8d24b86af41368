#!/usr/bin/env -S node --conditions=orrery-source
import { wallClock } from '@orrery/ralph-loop/wall-clock';
import { Interruption } from './interruption.ts';

// Signals are handled while the rest loads, which takes a moment.
using interruption = new Interruption({ clock: wallClock, process });
const { signal } = interruption;
const leave = (): never => {
  process.stderr.write('orrery: Stopped before anything was started\n');
  process.exit(interruption.exitCode);
};
signal.addEventListener('abort', leave);
const { command } = await import('./whole-command.ts');
signal.removeEventListener('abort', leave);
process.exitCode = await command(process.argv.slice(2), { clock: wallClock, interruption });
// An interrupted start would keep the process alive.
if (signal.aborted) process.exit();
