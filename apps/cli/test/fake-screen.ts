import { plain } from '@orrery/ralph-loop';
import type { Screen } from '../screen.ts';

/** A screen that remembers what was written to it. */
export class FakeScreen implements Screen {
  readonly isTerminal = true;
  columns = 60;
  rows = 10;
  readonly paint = plain;
  readonly written: string[] = [];

  write(text: string): void {
    this.written.push(text);
  }

  async settled(): Promise<undefined> {}
}
