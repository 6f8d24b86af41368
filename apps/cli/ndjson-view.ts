import type { LoopEvent, MissionReport } from '@orrery/ralph-loop';
import { jsonLine } from './json-line.ts';
import type { Screen } from './screen.ts';
import type { View } from './view.ts';

/** The view of `--ndjson`, for scripts: each event of the loop as one line of JSON. */
export class NdjsonView implements View {
  readonly #screen: Screen;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  show(event: LoopEvent): void {
    this.#screen.write(jsonLine(event));
  }

  close(): void {}
}

/** The last line of `--ndjson`: `{"type":"report","report":{…}}`, with the report as `--json` writes it. */
export const reportLine = (report: MissionReport): string => jsonLine({ type: 'report', report });
