import { wallClock } from '@orrery/ralph-loop/wall-clock';
import { Interruption } from '../interruption.ts';
import { answered } from '../whole-command.ts';
import { FakeScreen } from './fake-screen.ts';
import type { Ended } from './spawn-orrery.ts';

/** Runs the command to its end in this process: what it says, where no process is needed to say it. */
export async function orreryHere(...words: readonly string[]): Promise<Omit<Ended, 'signal'>> {
  const [screen, errors] = [new FakeScreen(), new FakeScreen()];
  const process = { on: () => process, off: () => process, exit: () => undefined } as never;
  using interruption = new Interruption({ clock: wallClock, process });
  const code = await answered(words, { screen, errors, clock: wallClock, interruption });
  return { code, stdout: screen.written.join(''), stderr: errors.written.join('') };
}
